// The names are those of the reference.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The key of the reason in the user information of `UbiquitousKeyValueStore.didChangeExternallyNotification`.
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
/// The key of the changed keys there.
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"

/// Another machine, or another process, changed values.
public let NSUbiquitousKeyValueStoreServerChange = 0
/// The store met its account for the first time.
public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
/// A value was refused, or others' edits came together to more than the limits.
public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
/// The contents are another account's now.
public let NSUbiquitousKeyValueStoreAccountChange = 3
