internal import Foundation
internal import PropertyList

/// Between `Foundation.URL` and the forms in which preferences hold a URL.
enum FoundationURLs {
  /// The URL that an object is, for the members that take `Any`; nil for any other type.
  static func url(in value: Any) -> URL? {
    switch type(of: value) {
    case is URL.Type, is NSURL.Type: value as? URL
    case is URL?.Type: value as? URL
    default: nil
    }
  }

  /// What is stored for a URL: a file URL's path, otherwise its archive.
  ///
  /// A file URL that names another host keeps its text: its path alone would mean a file of this machine.
  static func stored(_ url: URL, home: String) -> PropertyListValue {
    let host = url.host(percentEncoded: false) ?? ""
    guard url.isFileURL, host.isEmpty || host == "localhost" else {
      return URLReference.storedForm(of: .url(text: url.relativeString, base: url.baseURL?.absoluteString), home: home)
    }
    return URLReference.storedForm(of: .file(path: url.absoluteURL.path), home: home)
  }

  /// The URL that a stored value stands for; nil when its text is not a URL.
  static func url(_ reference: URLReference) -> URL? {
    switch reference {
    case .file(let path): URL(fileURLWithPath: path)
    case .url(let text, let base): URL(string: text, relativeTo: base.flatMap { URL(string: $0) })
    }
  }
}
