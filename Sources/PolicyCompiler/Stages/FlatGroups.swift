import ForcedDomain

// The language and the file format both speak of host groups and user groups: as written there, flattened here. Where
// both rooms are imported, the latter go by these names.
typealias FlatHostGroup = HostGroup
typealias FlatUserGroup = UserGroup
