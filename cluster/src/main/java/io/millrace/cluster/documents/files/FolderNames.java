package io.millrace.cluster.documents.files;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * How the folder of a key is called: ASCII in lower case, so that no file system takes two for one,
 * and at most {@value #LONGEST} letters. Lower-case letters, digits, dashes and underscores stand
 * for themselves, each other byte of the key's UTF-8 is {@code %xx}. Of what would be longer the
 * first {@value #KEPT} letters are kept, and {@code ~} and the key's SHA-256 follow. Which key it
 * is stands in each of its files.
 */
final class FolderNames {
  private static final int LONGEST = 225;
  private static final int KEPT = 160;

  private FolderNames() {}

  /** The name of a key's folder. */
  static String of(String key) {
    String name = encoded(key);
    return name.length() <= LONGEST ? name : name.substring(0, KEPT) + "~" + digest(key);
  }

  /** Whether the folder may be that of a key which begins with {@code prefix}. */
  static boolean mayBegin(String folder, String prefix) {
    String begin = encoded(prefix);
    int tilde = folder.indexOf('~');
    return tilde < 0
        ? folder.startsWith(begin)
        : folder.startsWith(begin.substring(0, Math.min(begin.length(), tilde)));
  }

  private static String encoded(String text) {
    StringBuilder name = new StringBuilder();
    for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
      if ((one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '-' || one == '_') {
        name.append((char) one);
      } else {
        name.append('%').append(HexFormat.of().toHexDigits(one));
      }
    }
    return name.toString();
  }

  private static String digest(String key) {
    try {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
