@_exported public import Foundation
@_exported public import ManagedPreferences

/// Foundation's name for the defaults, for programs that were written for it: with `import ManagedFoundation` in the place of
/// `import Foundation`, a file's `UserDefaults` is `ManagedDefaults` and all the rest is Foundation's.
///
/// A file that imports Foundation as well has two classes of that name, and the compiler asks which one is meant. Write
/// `ManagedDefaults` there, or declare this alias in a module of your own: it then holds in all files of that module.
public typealias UserDefaults = ManagedDefaults
