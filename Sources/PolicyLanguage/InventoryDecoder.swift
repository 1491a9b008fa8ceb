/// `kind: Inventory`.
extension DocumentDecoder {
  mutating func decodeInventory() {
    guard let fields = fields(of: tree.root, as: PolicySchema.inventory, named: "an inventory") else { return }
    let unknownHosts = choice(fields["unknownHosts"], of: Inventory.UnknownHosts.self) ?? .refuse
    var hostGroups: [HostGroup] = []
    for group in groups(fields["hosts"], as: PolicySchema.hostGroups) {
      guard let inner = selection(group, as: PolicySchema.hostGroup) else { continue }
      let items = hostItems(inner)
      hostGroups.append(HostGroup(name: located(group.key), names: items.names, groups: items.groups))
    }
    var userGroups: [UserGroup] = []
    for group in groups(fields["users"], as: PolicySchema.userGroups) {
      guard let inner = selection(group, as: PolicySchema.userGroup) else { continue }
      userGroups.append(
        UserGroup(
          name: located(group.key), names: userNames(inner["names"], allowsPeople: true),
          unixGroups: userNames(inner["unixGroups"], allowsPeople: false),
          groups: texts(inner["groups"], whenEmpty: .emptySelector)))
    }
    inventories.append(
      Inventory(
        source: source, position: tree.position(tree.root), unknownHosts: unknownHosts, hostGroups: hostGroups,
        userGroups: userGroups))
  }

  private mutating func groups(_ entry: Entry?, as shape: Shape) -> [Entry] {
    guard let entry, let fields = fields(of: entry.value, as: shape, named: entry.name) else { return [] }
    if tree.count(of: entry.value) == 0 {
      sink.report(.emptySection, at: tree.position(entry.value), "\(entry.name) is empty")
    }
    return members(fields["groups"], whenEmpty: .emptySection).compactMap { key, value in
      let name = tree.string(key)
      if !name.isEmpty { return Entry(name: name, key: key, value: value) }
      sink.report(.emptyKey, at: tree.position(key), "a group's name can't be the empty text")
      return nil
    }
  }

  private mutating func selection(_ group: Entry, as shape: Shape) -> Fields? {
    guard let fields = fields(of: group.value, as: shape, named: group.name) else { return nil }
    if tree.count(of: group.value) == 0 {
      sink.report(.emptySelector, at: tree.position(group.value), "the group \(group.name.shown) lists nobody")
    }
    return fields
  }
}
