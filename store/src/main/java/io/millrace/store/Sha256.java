package io.millrace.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256. */
public final class Sha256 {
  private Sha256() {}

  /** A new digest without input. */
  public static MessageDigest begin() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  /** The SHA-256 of a text encoded as UTF-8, as 64 hexadecimal digits in lower case. */
  public static String hex(String text) {
    return HexFormat.of().formatHex(begin().digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
