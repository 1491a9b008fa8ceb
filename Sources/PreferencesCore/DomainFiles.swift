/// The four files of one domain, as a search list reads them: the user's and those for any user, each for this host and for
/// any.
struct DomainFiles {
  let name: String
  let userHost: DomainFile
  /// What `set` writes.
  let user: DomainFile
  let anyUserHost: DomainFile
  let anyUser: DomainFile

  var all: [DomainFile] { [userHost, user, anyUserHost, anyUser] }
}
