/// The profile that `init` lays beside the policies, to start from.
///
/// `apply` reads `*.yaml` and `*.yml` only, so the sample does nothing until it is renamed.
enum SamplePolicy {
  static let fileName = "example.yaml.sample"

  static let text = """
    # To start from: rename this file to example.yaml, change it, then: sudo policyctl apply
    version: 1
    kind: Profile
    id: org.example.lab.base            # reverse-DNS, unique in this folder
    title: Baseline
    owner: lab-admins
    priority: 10                        # the larger wins
    forced:                             # read-only for applications and users
      org.example.Editor:
        AutoSaveInterval: 30
        SpellCheck: true
      NSGlobalDomain:
        AppleLanguages: [en]
    recommended:                        # a default of yours; the user's own choice beats it
      org.example.Editor:
        Theme: light
    overrides:
      - hosts: {names: ["lab-a-07"]}
        reason: projector machine
        forced:
          org.example.Editor:
            AutoSaveInterval: 99
    ---
    version: 1
    kind: Manifest                      # what the keys of a domain are: mistakes are found by check
    domain: org.example.Editor
    keys:
      AutoSaveInterval: {type: integer, range: [5, 600], default: 60, title: Auto-save interval, unit: seconds}
      SpellCheck: {type: boolean}
      Theme: {type: string, enum: [light, dark]}
    ---
    version: 1
    kind: Tests                         # run by: policyctl test
    cases:
      - name: every machine saves often
        given: {host: lab-a-03, user: s1, at: "2026-12-01T09:30:00+01:00"}
        expect:
          forced: {org.example.Editor: {AutoSaveInterval: 30}}
          value: {org.example.Editor: {Theme: light}}
      - name: the projector machine saves seldom
        given: {host: lab-a-07, user: s1, at: "2026-12-01T09:30:00+01:00"}
        expect:
          forced: {org.example.Editor: {AutoSaveInterval: 99}}
          notForced: {org.example.Editor: [Theme]}

    """
}
