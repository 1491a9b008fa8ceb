import PreferencesCore

/// The names of the layers as the engine has them.
enum Layers {
  static let names: [String?] = Layer.allCases.map(\.rawValue)
}
