import PropertyList

/// Controls that fail by what their own profile forces: the mistake of a policy that contradicts itself.
extension TreeValidation {
  mutating func checkControls() {
    let manifests = Dictionary(tree.manifests.map { ($0.domain.value, $0) }) { first, _ in first }
    for profile in tree.profiles where !profile.controls.isEmpty {
      // Values that were reported say nothing about their control.
      if sinks[profile.source].diagnostics.hasErrors { continue }
      var wanted: Set<String> = []
      for control in profile.controls {
        for expectation in control.expectations { wanted.insert(expectation.identity) }
      }
      var forced: [String: KeySetting] = [:]
      for domain in profile.forced {
        for setting in domain.settings {
          let identity = "\(domain.domain.value)\u{0}\(profile.tree.string(setting.key))"
          if wanted.contains(identity) { forced[identity] = setting }
        }
      }
      for control in profile.controls {
        for expectation in control.expectations {
          guard let setting = forced[expectation.identity] else { continue }
          // A union's other contributors may complete the value.
          if manifests[expectation.domain.value]?.key(named: expectation.key.value)?.merge == .union { continue }
          let value = profile.tree.value(setting.value)
          if expectation.conditions.allSatisfy({ $0.holds(for: value) }) { continue }
          sinks[profile.source].report(
            .contradictedControl, at: expectation.position,
            "the control \(control.id.value.shown) fails by what its own profile forces for \(expectation.key.value.shown)",
            related: [related(profile.source, profile.tree.position(setting.value), "the forced value is here")])
        }
      }
    }
  }
}

extension ControlExpectation {
  fileprivate var identity: String { "\(domain.value)\u{0}\(key.value)" }
}
