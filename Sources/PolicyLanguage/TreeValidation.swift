import PropertyList

/// What can only be said of the tree as a whole: identities, groups, hosts, time zones, manifests, controls.
///
/// Each subject is a file of its own that extends this type. Runs on one thread after all files are decoded; what every
/// key of a file needs was done with the file.
struct TreeValidation {
  var tree: PolicyTree
  /// All of them, although a tree may have one only.
  let inventories: [Inventory]
  /// By index of source.
  var sinks: [DiagnosticSink]
  let now: Int64

  /// The steps, in order.
  mutating func run() {
    checkSpellings()
    checkIdentities()
    checkExpiry()
    checkGroups()
    checkExceptions()
    checkHosts()
    checkTimeZones()
    checkValues()
    checkControls()
  }

  func related(_ source: Int, _ position: SourcePosition, _ message: String) -> RelatedPosition {
    RelatedPosition(path: sinks[source].path, position: position, message: message)
  }

  /// Every scope of the tree with the file that it stands in: of profiles, overrides and exemptions.
  var scopes: [(source: Int, scope: Scope)] {
    tree.profiles.flatMap { profile in
      [(profile.source, profile.applies)] + profile.overrides.map { (profile.source, $0.scope) }
        + profile.exemptions.map { (profile.source, $0.scope) }
    }
  }

  // MARK: Identities

  private mutating func checkIdentities() {
    var profiles: [String: Profile] = [:]
    for profile in tree.profiles {
      if let first = profiles[profile.id.value] {
        sinks[profile.source].report(
          .duplicateIdentifier, at: profile.id.position, "the id \(profile.id.value.shown) is taken",
          related: [related(first.source, first.id.position, "by this profile")])
      } else {
        profiles[profile.id.value] = profile
      }
    }
    for inventory in inventories.dropFirst() {
      let first = inventories[0]
      sinks[inventory.source].report(
        .secondInventory, at: inventory.position, "the tree has an inventory already",
        related: [related(first.source, first.position, "it is here")])
    }
    var manifests: [String: Manifest] = [:]
    for manifest in tree.manifests {
      if let first = manifests[manifest.domain.value] {
        sinks[manifest.source].report(
          .duplicateManifest, at: manifest.domain.position,
          "the domain \(manifest.domain.value.shown) has a manifest already",
          related: [related(first.source, first.domain.position, "it is here")])
      } else {
        manifests[manifest.domain.value] = manifest
      }
    }
    checkControlIdentities()
  }

  private mutating func checkControlIdentities() {
    var controls: [String: (source: Int, position: SourcePosition)] = [:]
    for profile in tree.profiles {
      for control in profile.controls {
        if let first = controls[control.id.value] {
          sinks[profile.source].report(
            .duplicateControl, at: control.id.position, "there is a control \(control.id.value.shown) already",
            related: [related(first.source, first.position, "it is here")])
        } else {
          controls[control.id.value] = (profile.source, control.id.position)
        }
      }
    }
    let names = controls.keys.sorted()
    for profile in tree.profiles {
      for exemption in profile.exemptions where controls[exemption.control.value] == nil {
        let name = exemption.control.value
        func suggestion() -> String {
          Spelling.nearest(to: name, in: names).map { "; did you mean '\($0.shown)'?" } ?? ""
        }
        sinks[profile.source].report(
          .unknownControl, at: exemption.control.position, "there is no control '\(name.shown)'\(suggestion())")
      }
    }
  }

  // MARK: Expiry

  private mutating func checkExpiry() {
    for profile in tree.profiles {
      for override in profile.overrides {
        guard let expires = override.expires, expires.value.unixTime <= Double(now) else { continue }
        sinks[profile.source].report(
          .expiredOverride, at: expires.position, "the override has expired and holds no more")
      }
      for exemption in profile.exemptions where exemption.expires.value.unixTime <= Double(now) {
        sinks[profile.source].report(
          .expiredExemption, at: exemption.expires.position,
          "the exemption from \(exemption.control.value.shown) has expired and holds no more")
      }
    }
  }
}
