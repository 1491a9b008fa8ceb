import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler

/// Root's work on this host, with the installer's errors as the command's failures.
struct HostSite {
  let installation: Installation
  private let installer: Installer

  init(_ installation: Installation) {
    self.installation = installation
    installer = Installer(installation)
  }

  var hasGeneration: Bool {
    ((try? ForcedDomainLoader(installation).marker()) ?? nil).map { $0.generation > 0 } ?? false
  }

  func initialise(host: String?) throws(CommandFailure) -> Installer.Initialisation {
    do throws(InstallError) {
      return try installer.initialise(
        host: host ?? HostName.ofThisSystem(), sample: (SamplePolicy.fileName, Array(SamplePolicy.text.utf8)))
    } catch {
      throw CommandFailure(error)
    }
  }

  /// - Returns: the name before.
  func enroll(as name: String) throws(CommandFailure) -> String? {
    do throws(InstallError) { return try installer.enroll(host: name)?.identity.name } catch {
      throw CommandFailure(error)
    }
  }

  func install(_ bundle: Bundle, from path: String, _ call: Invocation) throws(CommandFailure) -> InstallView {
    do throws(InstallError) {
      return InstallView(
        try installer.install(bundle, from: path, allowUnresolved: call.arguments.has("--allow-unresolved")))
    } catch {
      throw CommandFailure(error, of: call)
    }
  }

  func refresh(_ call: Invocation) throws(CommandFailure) -> InstallView {
    do throws(InstallError) {
      var view = InstallView(try installer.refresh(allowUnresolved: call.arguments.has("--allow-unresolved")))
      view.isRefresh = true
      return view
    } catch {
      throw CommandFailure(error, of: call)
    }
  }

  /// The bundle for `apply`: the installed one where the same sources made it, so that nothing is written.
  func bundleToApply(_ folder: PolicyFolder, serial: UInt64?) throws(CommandFailure) -> Bundle {
    do throws(InstallError) {
      if serial == nil, let installed = try installer.installedBundle(),
        installed.payload == folder.compilation.payload,
        installed.sourceDigest == folder.compilation.sourceDigest
      {
        if case .refused = try TrustStore(of: installation).decide(on: installed) {} else { return installed }
      }
    } catch {
      throw CommandFailure(error)
    }
    let bundle = try folder.bundle(serial: serial)
    do throws(InstallError) {
      if let key = try KeyFiles.local(on: installation) { return bundle.signed(with: key) }
    } catch {
      throw CommandFailure(error)
    }
    return bundle
  }

  func generations() throws(CommandFailure) -> [GenerationListing] {
    do throws(InstallError) { return try installer.generations() } catch { throw CommandFailure(error) }
  }

  func uninstall() throws(CommandFailure) -> Installer.Uninstallation {
    do throws(InstallError) { return try installer.uninstall() } catch { throw CommandFailure(error) }
  }

  // MARK: Keys

  func makeLocalKey() throws(CommandFailure) -> VerificationKey {
    do throws(InstallError) { return try KeyFiles.generateLocal(on: installation) } catch {
      throw CommandFailure(error)
    }
  }

  func trust(_ path: String, as name: String?) throws(CommandFailure) -> TrustedKey {
    do throws(InstallError) { return try KeyFiles.trust(path, as: name, on: installation) } catch {
      throw CommandFailure(error)
    }
  }

  func trustedKeys() throws(CommandFailure) -> [TrustedKey] {
    do throws(InstallError) { return try TrustStore(of: installation).keys } catch { throw CommandFailure(error) }
  }
}

extension CommandFailure {
  /// The installer's error: its code, its words, its next commands.
  ///
  /// - Parameter call: the command line that failed; given where it could be repeated with another flag.
  init(_ error: InstallError, of call: Invocation? = nil) {
    var next = error.next
    if case .unresolvedNames = error.reason, let call {
      next = [call.again(privileged: call.root == nil, adding: "--allow-unresolved")]
    }
    if case .notEnrolled = error.reason, let call,
      ((try? ForcedDomainLoader(call.installation()).marker()) ?? nil) == nil
    {
      next = [call.command(privileged: true, "init")]
    }
    self.init(ExitCode(rawValue: error.exitCode) ?? .inputOutput, error.description, next: next)
  }
}

extension InstallView {
  init(_ report: InstallReport) {
    var mended: [String] = []
    if case .mended(let paths) = report.outcome { mended = paths }
    self.init(
      generation: report.generation, serial: report.serial, host: report.host.name,
      isChanged: report.outcome == .installed, mended: mended, forcedKeys: report.forcedKeys,
      domains: report.forcedDomains, recommendedKeys: report.recommendedKeys, windows: report.windows,
      nextEdge: report.nextEdge, faults: report.faults, now: WallClock.unixSeconds())
  }
}
