import CProcesses
import CommandLineKit
import ForcedDomain
import LinuxFiles
import PreferencesCore

/// The folders of a container and of its groups, made where they are missing, held open, and kept from being reset.
final class ContainerFolders {
  let home: (path: String, descriptor: Int32)
  let groups: [(name: String, descriptor: Int32)]
  /// Others' programs in the same container hold it as well; a reset waits for none of them.
  private let use: FileLock

  init(
    _ grants: ApplicationGrants, _ user: ContainedUser, _ installation: Installation
  ) throws(CommandFailure) {
    let containers = user.containers
    let locations = PreferenceLocations(
      homeDirectory: user.home, configurationDirectory: user.configurationDirectory,
      dataDirectory: user.dataDirectory, installation: installation)
    do throws(FileError) {
      try ContainerPreparation.prepare(Containment(grants), in: locations)
      use = try FileLock.shared(directory: containers.container(grants.identifier), timeout: 10)
    } catch {
      throw CommandFailure(error, while: .creating)
    }
    home = try Self.open(containers.home(ofContainer: grants.identifier))
    var groups: [(name: String, descriptor: Int32)] = []
    for group in grants.groups where DomainName.fault(in: group) == nil {
      groups.append((group, try Self.open(containers.group(group)).descriptor))
    }
    self.groups = groups
  }

  /// For the user alone. A link in the place of the folder is refused: it could lead to what is not the container's.
  private static func open(_ path: String) throws(CommandFailure) -> (path: String, descriptor: Int32) {
    do throws(FileError) {
      let descriptor = process_hold(path)
      if descriptor < 0 { throw FileError("open", path: path, errno: .current) }
      let metadata = try FileMetadata.of("/proc/self/fd/\(descriptor)")
      guard metadata.isDirectory else { throw FileError("open", path: path, errno: .notDirectory) }
      guard metadata.userID == ProcessIdentity.effectiveUserID else {
        throw FileError("use", path: path, errno: .notPermitted)
      }
      return (path, descriptor)
    } catch {
      throw CommandFailure(error, while: .creating)
    }
  }
}
