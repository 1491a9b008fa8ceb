/// The upper half of NeXTSTEP's character set, which octal escapes of old-style text are written in.
enum NextStepEncoding {
  /// The character of a byte, nil for the two that mean nothing (254, 255).
  static func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    if byte < 0x80 { return Unicode.Scalar(byte) }
    let index = Int(byte - 0x80)
    return index < upperHalf.count ? upperHalf[index] : nil
  }

  // Source: the table of NeXTSTEP's vendor mapping at unicode.org (VENDORS/NEXT/NEXTSTEP.TXT).
  private static let upperHalf: [Unicode.Scalar] = Array(
    ("\u{A0}ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖÙÚÛÜÝÞµ×÷©¡¢£⁄¥ƒ§¤’“«‹›ﬁﬂ®–†‡·¦¶•‚„”»…‰¬¿¹ˋ´ˆ˜¯˘˙¨²˚¸³˝˛ˇ—±¼½¾àáâãäåçèéêëìÆíª"
      + "îïðñŁØŒºòóôõöæùúûıüýłøœßþÿ").unicodeScalars)
}
