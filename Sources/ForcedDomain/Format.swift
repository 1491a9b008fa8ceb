/// The numbers of the file format, shared by writer and reader; Documentation/forced-domain-format.md describes it.
enum Format {
  /// "MPFORCED" as a little-endian word.
  static let magic: UInt64 = 0x4445_4352_4F46_504D
  static let version: UInt16 = 1
  static let headerSize = 192
  /// The checksum's own place, left out of it.
  static let checksumRange = 24..<32
  static let alignment = 8
  static let maximumDepth = 64
  /// Tables may name texts again and again; together they may not ask for more memory than this many file sizes.
  static let maximumTextExpansion = 16

  /// Byte offsets of the header's fields.
  enum Header {
    static let magic = 0
    static let version = 8
    static let minimumReaderVersion = 10
    static let kind = 12
    static let digestCount = 13
    static let zero16 = 14
    static let length = 16
    static let checksum = 24
    static let generation = 32
    static let serial = 40
    static let horizonStart = 48
    static let horizonEnd = 56
    static let digest = 64
    static let hostName = 96
    static let zero32 = 100
    static let counts = 104
  }

  /// The first word of a condition: which parts it has, and, above them, the condition that it stands within (0: none).
  enum ConditionFlag {
    static let hosts: UInt32 = 1
    static let users: UInt32 = 2
    static let notAfter: UInt32 = 4
    static let all: UInt32 = 7
    static let outerShift: UInt32 = 8
    static let highestOuter = 1 << 24 - 1
  }

  enum AtomKind {
    static let hostPattern: UInt32 = 1
    static let hostGroup: UInt32 = 2
    static let people: UInt32 = 3
    static let userName: UInt32 = 4
    static let userGroup: UInt32 = 5
  }

  enum WindowFlag {
    static let firstDay: UInt8 = 1
    static let lastDay: UInt8 = 2
  }

  /// Value tags beyond the raw numbers of `PropertyListType`.
  enum Tag {
    static let none: UInt8 = 0
    static let string: UInt8 = 1
    static let integer: UInt8 = 2
    static let real: UInt8 = 3
    static let boolean: UInt8 = 4
    static let date: UInt8 = 5
    static let data: UInt8 = 6
    static let array: UInt8 = 7
    static let dictionary: UInt8 = 8
    /// An integer of 2⁶³ … 2⁶⁴−1.
    static let largeInteger: UInt8 = 9
  }

  /// Slots of the index for so many keys: a power of two, at most two thirds full, so that a probe always ends.
  static func indexCount(forKeys count: Int) -> Int {
    var slots = 1
    while slots < count + count / 2 + 1 { slots <<= 1 }
    return slots
  }

  /// Steps that all look-ups together may take; more means keys that were chosen to collide.
  static func probeBudget(forKeys count: Int) -> Int { count * 32 + 64 }

  static func aligned(_ count: Int) -> Int { (count + (alignment - 1)) & ~(alignment - 1) }

  static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    let before = UnsafeRawBufferPointer(rebasing: bytes[..<checksumRange.lowerBound])
    let after = UnsafeRawBufferPointer(rebasing: bytes[checksumRange.upperBound...])
    return ByteHash.hash(after, seed: ByteHash.hash(before, seed: 0))
  }
}

/// One section of a file: where it starts and how many records it has.
struct Table {
  var offset = 0
  var count = 0
}

/// Where the sections are. They follow the header and one another in this order, each from a multiple of 8, with no
/// gap; so offsets need no place in the file, and no two sections can overlap.
struct Layout {
  var texts = Table()
  var textEnds = Table()
  var profiles = Table()
  var hostGroups = Table()
  var hostPatterns = Table()
  var userGroups = Table()
  var userGroupItems = Table()
  var resolvedUsers = Table()
  var conditions = Table()
  var atoms = Table()
  var windows = Table()
  var intervals = Table()
  var keyNames = Table()
  var domains = Table()
  var keys = Table()
  var index = Table()
  var strings = Table()
  var values = Table()
  var entries = Table()
  var provenance = Table()
  var annex = Table()
  /// The length of the whole file.
  var end = 0

  init() {}

  /// Lays the sections out. Can't overflow: 21 counts of 32 bits, records of at most 32 bytes.
  init(counts: [UInt32]) {
    var at = Format.headerSize
    var section = 0
    func next() -> Table {
      let table = Table(offset: at, count: Int(counts[section]))
      at = Format.aligned(at + table.count * Stride.ofSections[section])
      section += 1
      return table
    }
    texts = next()
    textEnds = next()
    profiles = next()
    hostGroups = next()
    hostPatterns = next()
    userGroups = next()
    userGroupItems = next()
    resolvedUsers = next()
    conditions = next()
    atoms = next()
    windows = next()
    intervals = next()
    keyNames = next()
    domains = next()
    keys = next()
    index = next()
    strings = next()
    values = next()
    entries = next()
    provenance = next()
    annex = next()
    end = at
  }

  enum Stride {
    static let profile = 12
    static let hostGroup = 8
    static let userGroup = 20
    static let resolvedUser = 12
    static let condition = 32
    static let atom = 8
    static let window = 32
    static let interval = 16
    static let domain = 8
    static let key = 12
    static let entry = 32
    static let provenance = 24

    /// Bytes of a record of each section, in file order.
    static let ofSections = [
      1, 4, profile, hostGroup, 4, userGroup, 4, resolvedUser, condition, atom, window, interval, 1, domain, key, 4, 1,
      1, entry, provenance, 1,
    ]
  }
}
