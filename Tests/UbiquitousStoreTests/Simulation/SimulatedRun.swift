import BackEndConformance
import UbiquitousStore

/// One run: five devices live through random days, then all partitions heal, and all must agree.
struct SimulatedRun {
  struct Result {
    var violations: [String]
    var edits = 0
    var collected = false
    var restamped = 0
  }

  let seed: UInt64
  /// A new disk for a device.
  var makeNear: (SimulatedDevice) -> any NearBackEnd = { device in
    let server = MemoryServer(
      clock: { [unowned device] in device.now }, refusesClocks: false,
      tombstoneLifetime: SimulatedWorld.tombstoneLifetime)
    return MemoryBackEnd(server, account: nil)
  }
  var steps = 250

  func callAsFunction() throws -> Result {
    let world = SimulatedWorld(seed: seed)
    let faults = world.numbers.chance(25) ? 0 : 15
    let devices = (0..<5).map { _ in SimulatedDevice(world, faults: faults, makeNear: makeNear) }
    var result = Result(violations: [])
    let losesMemory = world.numbers.chance(10)
    var copy: MemoryServer.StoredCopy?
    for step in 0..<steps {
      world.now += Int64.random(in: 0..<20, using: &world.numbers) * SimulatedWorld.minute
      let device = devices[Int.random(in: 0..<5, using: &world.numbers)]
      let process = Int.random(in: 0..<2, using: &world.numbers)
      switch Int.random(in: 0..<100, using: &world.numbers) {
      case 0..<28:
        let key = StoreKey("k\(Int.random(in: 0..<6, using: &world.numbers))")
        let value = world.numbers.chance(40) ? nil : [UInt8(truncatingIfNeeded: step), UInt8(step >> 8)]
        try device.edit(process, key, value)
        result.edits += 1
      case 28..<56: try device.save(process)
      case 56..<84: try device.exchange()
      case 84..<88: device.link.isCut.toggle()
      case 88..<91: device.crash(process)
      case 91: device.reset()
      case 92:
        device.clockError = Int64.random(
          in: -SimulatedWorld.day...SimulatedWorld.day, using: &world.numbers)
      case 93...95:
        // No message is under way for longer than tombstones are kept.
        for device in devices { try device.link.deliverLate(all: true) }
        world.now += Int64.random(in: 1...5, using: &world.numbers) * SimulatedWorld.day
      case 96 where losesMemory:
        if let earlier = copy {
          world.server.restore(earlier, to: SimulatedWorld.store)
          world.isCausal = false
        } else {
          copy = world.server.copy(of: SimulatedWorld.store)
        }
      default: try device.link.deliverLate()
      }
    }
    try settle(world, devices, &result)
    result.collected =
      (try MemoryBackEnd(world.server, account: "ada").changes(in: SimulatedWorld.store, after: nil)).floor != nil
    result.violations += world.violations
    return result
  }

  /// Heals everything, exchanges until all is still, and compares.
  private func settle(_ world: SimulatedWorld, _ devices: [SimulatedDevice], _ result: inout Result) throws {
    for device in devices {
      device.link.isCut = false
      device.link.faults = 0
      try device.link.deliverLate(all: true)
    }
    func round() throws {
      for device in devices {
        for process in device.processes.indices { try device.save(process) }
        try device.exchange()
        for process in device.processes.indices { try device.save(process) }
      }
    }
    for _ in 0..<4 { try round() }
    // Nothing is left to say: idle devices move no record.
    let traffic = world.traffic
    try round()
    if world.traffic != traffic { result.violations.append("idle devices moved records") }
    let wanted = world.server.records(of: SimulatedWorld.store).compactMapValues(\.value)
    for (index, device) in devices.enumerated() {
      let near = ReplicaEntries(
        try device.near.changes(in: SimulatedWorld.store, after: nil).records.map {
          ReplicaEntry(record: $0, isUnsent: false, isKnown: true)
        })
      if near.byKey.compactMapValues(\.record.value) != wanted {
        result.violations.append("device \(index)'s file differs from the server's contents")
      }
      for process in device.processes
      where process.replica.entries.byKey.compactMapValues(\.record.value) != wanted {
        result.violations.append("a process of device \(index) differs from the server's contents")
      }
    }
  }
}
