// The interface that SearchList.swift is about to have (this file goes when it lands):
//
// public final class SearchList: Sendable {
//   public struct Configuration: Sendable {
//     public var domain: String                       // the application's domain, or the suite that takes its place
//     public var applicationDomain: String            // for init(suite:) the application's own; addSuite refuses both
//     public var homeDirectory: String
//     public var configurationDirectory: String       // where DOMAIN.plist and .GlobalPreferences.plist live
//     public var arguments: [String]                  // CommandLine.arguments without the first; [] = no argument layer
//     public var installation: Installation           // of ForcedDomain
//     public var sink: any AuditEventSink
//     public var observes: Bool                       // follow changes in the background; false for one answer
//     public var clock: @Sendable () -> Int64         // Unix seconds
//     public var userFacts: UserFacts
//     public init(domain: String, …all with defaults from the process…)
//   }
//   public init(_ configuration: Configuration)
//   public let configuration: Configuration
//
//   // Reads
//   func bool(_ key: String) -> Bool; integer -> Int; float -> Float; double -> Double; string -> String?
//   func stringArray -> [String]?; array -> [PropertyListValue]?; dictionary -> [String: PropertyListValue]?
//   func data -> [UInt8]?; url -> URLReference?; value -> PropertyListValue?
//   func isForced(_ key: String) -> Bool
//   func isForced(_ key: String, inDomain: String) -> Bool
//   func forcedBy(_ key: String) -> [ForcedBy]
//   func resolution(of key: String) -> Resolution
//   func dictionaryRepresentation() -> [String: PropertyListValue]
//
//   // Writes (the application's domain, this user, any host)
//   func set(_ value: PropertyListValue?, forKey: String) -> Bool  // nil removes; discardable; true: the persistent
//                                                             // domain changed (ManagedDefaults posts didChange then)
//   func removeValue(forKey: String)
//   func register(_ defaults: [String: PropertyListValue])
//   func synchronize() -> Bool                                // discardable
//
//   // Suites of the receiver
//   func addSuite(_ name: String) -> Bool                     // discardable; false: refused (own, global, invalid)
//   func removeSuite(_ name: String)
//
//   // Domains
//   var volatileDomainNames: [String]; volatileDomain(forName:) -> [String: PropertyListValue]?
//   func setVolatileDomain(_: [String: PropertyListValue], forName:) -> Bool  // false: the name exists
//   func removeVolatileDomain(forName:)
//   var persistentDomainNames: [String]; persistentDomain(forName:) -> [String: PropertyListValue]?
//   func setPersistentDomain(_: [String: PropertyListValue], forName:) -> Bool; removePersistentDomain(forName:) -> Bool
//                                                             // discardable, as set: whether anything changed
//
//   // Changes: called with no lock held, on the changing thread for calls of this process
//   func onChange(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> ChangeSubscription   // ends at deinit or cancel()
//
//   // Faults
//   var faults: [PreferencesFault]; var isForcedDomainUnavailable: Bool; var generation: UInt64?
// }
// public enum ApplicationIdentity { static func fallback() -> String; static func validate(_ domain: String) -> DomainNameFault? }
// public enum GlobalDomain { static let name = "NSGlobalDomain" }
// public enum VolatileDomainName { static let argument = "NSArgumentDomain", registration = "NSRegistrationDomain" }
