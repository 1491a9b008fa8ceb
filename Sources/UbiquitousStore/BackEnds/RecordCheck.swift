/// What every back end refuses, in one place.
public enum RecordCheck {
  /// What is wrong with a push: one line that names the key; nil for nothing.
  public static func objection(_ records: [StoreRecord]) -> String? {
    var keys: Set<StoreKey> = []
    for record in records {
      if let wrong = objection(record) { return "the key \"\(record.key)\" \(wrong)" }
      if !keys.insert(record.key).inserted { return "the key \"\(record.key)\" stands twice in one push" }
    }
    return nil
  }

  /// - Returns: the end of a sentence that begins with the key.
  private static func objection(_ record: StoreRecord) -> String? {
    if let wrong = objection(record.key) { return wrong }
    if let count = record.value?.count, count > StoreLimits.valueBytes {
      return "has a value of \(count) bytes, and at most \(StoreLimits.valueBytes) are stored"
    }
    guard (0...Stamp.greatestTime).contains(record.stamp.time), record.stamp.counter >= 0 else {
      return "has the stamp \(record.stamp), which no clock gives"
    }
    return nil
  }

  /// What is wrong with a key, whatever its value.
  static func objection(_ key: StoreKey) -> String? {
    if key.byteCount == 0 { return "is empty" }
    if key.byteCount > StoreLimits.keyBytes {
      return "has \(key.byteCount) bytes of UTF-8, and at most \(StoreLimits.keyBytes) are stored"
    }
    return key.text.utf8.contains(0) ? "contains a zero byte" : nil
  }
}
