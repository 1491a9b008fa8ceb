import Glibc
import LinuxFiles
import PropertyList
import Testing

@testable import ForcedDomain

@Suite("What may stand in for a generation that is lost")
struct StandInTests {
  static let missingMarker = "generation: is missing, although policies were installed here. Next: policyctl refresh"

  /// How a state directory is damaged, and what a fresh process then uses; nil: it locks.
  struct Loss: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let damage: @Sendable (TemporaryInstallation) throws -> Void
    let generation: UInt64?
    let faults: [String]
  }

  /// Each begins with the generations 0 (empty), 1 and 2, of which 2 is in use.
  static let losses: [Loss] = [
    Loss(
      testDescription: "the files of all generations but 0",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.forcedFile)
        for number in [1, 2] as [UInt64] {
          try Directory.removeFile(temporary.installation.generationDirectory(number) + "/forced")
        }
      }, generation: nil,
      faults: [
        "forced: is not there", "generations/2/forced: is not there", "generations/1/forced: is not there",
        "generations/0/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the marker damaged, the files of all generations but 0 gone",
      damage: { temporary in
        try temporary.write([1], to: temporary.installation.generationMarker)
        try Directory.removeFile(temporary.installation.forcedFile)
        for number in [1, 2] as [UInt64] {
          try Directory.removeTree(temporary.installation.generationDirectory(number))
        }
      }, generation: nil,
      faults: [
        "generation: is damaged", "forced: is not there",
        "generations/0/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the marker gone, the empty file put back",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.generationMarker)
        try temporary.write(
          try TemporaryInstallation.file(generation: 0, mark: nil), to: temporary.installation.forcedFile)
      }, generation: 2,
      faults: [
        missingMarker, "forced: generation 0 is refused: it forces nothing, and later policies were installed",
      ]),
    Loss(
      testDescription: "the marker damaged, the empty file put back, no generation kept, but the bundle",
      damage: { temporary in
        try temporary.write([1], to: temporary.installation.generationMarker)
        try temporary.write(
          try TemporaryInstallation.file(generation: 0, mark: nil), to: temporary.installation.forcedFile)
        try Directory.removeTree(temporary.installation.generationsDirectory)
        try temporary.write([1], to: temporary.installation.bundleFile)
      }, generation: nil,
      faults: [
        "generation: is damaged",
        "forced: generation 0 is refused: it forces nothing, and later policies were installed",
      ]),
    Loss(
      testDescription: "the marker gone",
      damage: { try Directory.removeFile($0.installation.generationMarker) }, generation: 2,
      faults: [missingMarker]),
    Loss(
      testDescription: "the marker and the forced file gone",
      damage: { temporary in
        try Directory.removeFile(temporary.installation.generationMarker)
        try Directory.removeFile(temporary.installation.forcedFile)
      }, generation: 2, faults: [missingMarker, "forced: is not there"]),
    Loss(
      testDescription: "all but the bundle gone",
      damage: { temporary in
        try Directory.removeTree(temporary.installation.stateDirectory)
        try temporary.write([1], to: temporary.installation.bundleFile)
      }, generation: nil, faults: [missingMarker, "forced: is not there"]),
    Loss(
      testDescription: "a generation that was never in use",
      damage: { temporary in
        try temporary.write(
          try TemporaryInstallation.file(generation: 3, serial: 3, mark: 3),
          to: temporary.installation.generationDirectory(3) + "/forced")
        try temporary.write([1], to: temporary.installation.forcedFile)
      }, generation: 2, faults: ["forced: no forced domain: 1 bytes are shorter than a header"]),
    Loss(
      testDescription: "no other than one that was never in use",
      damage: { temporary in
        try Directory.removeTree(temporary.installation.generationsDirectory)
        try temporary.write(
          try TemporaryInstallation.file(generation: 3, serial: 3, mark: 3),
          to: temporary.installation.generationDirectory(3) + "/forced")
        try temporary.write([1], to: temporary.installation.forcedFile)
      }, generation: nil, faults: ["forced: no forced domain: 1 bytes are shorter than a header"]),
    Loss(
      testDescription: "an older one that forces nothing is passed over",
      damage: { temporary in
        try temporary.install(generation: 3, serial: 3, mark: nil)
        try temporary.install(generation: 4, serial: 4, mark: 4)
        try Directory.removeFile(temporary.installation.forcedFile)
        try Directory.removeFile(temporary.installation.generationDirectory(4) + "/forced")
      }, generation: 2,
      faults: [
        "forced: is not there", "generations/4/forced: is not there",
        "generations/3/forced: forces nothing, so it can't stand in for a later generation",
      ]),
    Loss(
      testDescription: "the one in use forces nothing",
      damage: { temporary in
        try temporary.install(generation: 3, serial: 3, mark: nil)
        try Directory.removeFile(temporary.installation.forcedFile)
      }, generation: 3, faults: ["forced: is not there"]),
  ]

  @Test(arguments: losses) func nothingStandsInThatOpensAKey(row: Loss) throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 0, mark: nil)
    try temporary.install(generation: 1, serial: 1, mark: 1)
    try temporary.install(generation: 2, serial: 2, mark: 2)
    let (current, _) = try loaded(temporary.load())
    try row.damage(temporary)
    switch temporary.load() {
    case .loaded(let domain, let faults):
      #expect(domain.generation == row.generation)
      #expect(temporary.text(faults) == row.faults)
    case .unavailable(let faults):
      #expect(row.generation == nil)
      #expect(temporary.text(faults) == row.faults)
    case .notInstalled: Issue.record("counts as not installed")
    }
    // A process that runs goes on with what it has, or with something newer.
    let (kept, _) = try loaded(temporary.load(keeping: current))
    #expect(kept.generation >= 2)
  }

  /// Right after `init`: nothing was ever forced, so damage opens nothing.
  @Test func theEmptyGenerationStandsForItself() throws {
    let temporary = try TemporaryInstallation()
    try temporary.install(generation: 0, mark: nil)
    try Directory.removeFile(temporary.installation.forcedFile)
    #expect(try loaded(temporary.load()).0.generation == 0)
    try temporary.install(generation: 0, mark: nil)
    try temporary.write([1], to: temporary.installation.generationMarker)
    let (domain, faults) = try loaded(temporary.load())
    #expect(domain.generation == 0)
    #expect(temporary.text(faults) == ["generation: is damaged"])
  }
}
