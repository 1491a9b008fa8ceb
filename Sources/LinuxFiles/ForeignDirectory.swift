/// Root with somebody else's home must not leave files of root's there: they would lock their user out.
public enum ForeignDirectory {
  /// Refuses, for root, a directory that lies in another user's: on the whole way, since a folder that an earlier mishap left
  /// to root is still in the user's home. Parts that are not there yet are nobody's.
  ///
  /// Inside a user namespace everything of users outside looks as if it were nobody's, and counts as root's.
  /// - Throws: `notPermitted`, with the directory that is another's.
  public static func refuse(_ directory: String) throws(FileError) {
    guard ProcessIdentity.effectiveUserID == 0 else { return }
    var place = directory
    while true {
      if let owner = try? FileMetadata.of(place).userID, !isRoots(owner) {
        throw FileError("write as root in another user's directory", path: place, errno: .notPermitted)
      }
      let parent = FilePath.parent(of: place)
      if parent == place { return }
      place = parent
    }
  }

  /// Whether what belongs to a user is root's, as far as this process can tell.
  public static func isRoots(_ user: UInt32) -> Bool {
    user == 0 || user == (ProcessIdentity.isInUserNamespace() ? ProcessIdentity.overflowUserID() : 0)
  }
}
