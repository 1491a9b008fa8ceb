internal import Foundation
internal import Synchronization

/// The one object of each preferences class.
///
/// Readers follow a list of nodes that only grows and whose nodes are never freed: no lock, no reference count beyond that of
/// the object itself. Programs have a handful of such classes.
enum SharedPreferences {
  private final class Node: Sendable {
    let type: ObjectIdentifier
    nonisolated(unsafe) let object: Preferences
    let next: UInt

    init(_ object: Preferences, next: UInt) {
      type = ObjectIdentifier(Swift.type(of: object))
      self.object = object
      self.next = next
    }
  }

  private static let first = Atomic<UInt>(0)
  /// Recursive: the initializer of one class may ask for the object of another.
  private static let making = NSRecursiveLock()
  nonisolated(unsafe) private static var underConstruction: Set<ObjectIdentifier> = []

  static func instance<Object: Preferences>() -> Object { instance(of: Object.self) }

  static func instance<Object: Preferences>(of type: Object.Type) -> Object {
    if let object = find(type) { return object }
    making.lock()
    defer { making.unlock() }
    if let object = find(type) { return object }
    guard underConstruction.insert(ObjectIdentifier(type)).inserted else {
      PreferencesMisuse.stop(
        "\(type).sharedInstance is asked for while it is being made, by its own initializer or migration; use self there"
      )
    }
    let object = type.init()
    underConstruction.remove(ObjectIdentifier(type))
    let node = Node(object, next: first.load(ordering: .relaxed))
    first.store(UInt(bitPattern: Unmanaged.passRetained(node).toOpaque()), ordering: .releasing)
    return object
  }

  /// Whether the one object of a class is under construction on this thread.
  static func isMaking(_ type: Preferences.Type) -> Bool {
    making.lock()
    defer { making.unlock() }
    return underConstruction.contains(ObjectIdentifier(type))
  }

  private static func find<Object: Preferences>(_ type: Object.Type) -> Object? {
    var address = first.load(ordering: .acquiring)
    while let pointer = UnsafeRawPointer(bitPattern: address) {
      let found: (object: Object?, next: UInt) = Unmanaged<Node>.fromOpaque(pointer)._withUnsafeGuaranteedRef { node in
        (node.type == ObjectIdentifier(type) ? unsafeDowncast(node.object, to: Object.self) : nil, node.next)
      }
      if let object = found.object { return object }
      address = found.next
    }
    return nil
  }
}
