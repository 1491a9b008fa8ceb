/// The files of one domain, as a search list reads them: the user's, and those for any user, each for this host and for any.
struct DomainFiles {
  let name: String
  /// The user's, in the order in which they are asked: this host's and the one for any host, and, where a contained
  /// application reads two of each, the pair that comes first.
  let ofUser: [UserFile]
  /// What `set` writes.
  let user: DomainFile
  let anyUserHost: DomainFile
  let anyUser: DomainFile

  struct UserFile {
    let file: DomainFile
    let isPerHost: Bool
  }

  var all: [DomainFile] { ofUser.map(\.file) + [anyUserHost, anyUser] }

  /// The user's files for any host.
  var forAnyHost: [DomainFile] { ofUser.filter { !$0.isPerHost }.map(\.file) }
}
