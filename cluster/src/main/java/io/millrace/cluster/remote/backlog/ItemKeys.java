package io.millrace.cluster.remote.backlog;

import io.millrace.cluster.documents.VersionedDocuments;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Keys of items: {@code backlog/NAME/ITEM} with the item in base64url, or {@code ~} and its SHA-256
 * in hexadecimal where that is longer than a key may be.
 */
final class ItemKeys {
  private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,64}");
  private static final int MOST_CHARS = 10_000;

  private ItemKeys() {}

  /**
   * What the keys of a backlog begin with.
   *
   * @throws IllegalArgumentException where that is no name
   */
  static String prefix(String backlog) {
    if (!NAME.matcher(backlog).matches()) {
      throw new IllegalArgumentException(
          "the name of a backlog has 1 to 64 of a to z, 0 to 9, - and _, not '" + backlog + "'");
    }
    return "backlog/" + backlog + "/";
  }

  /**
   * The key of an item.
   *
   * @throws IllegalArgumentException where the item is empty, too long or no text
   */
  static String key(String prefix, String item) {
    if (item.isEmpty() || item.length() > MOST_CHARS) {
      throw new IllegalArgumentException(
          "an item has 1 to %d characters, not %d".formatted(MOST_CHARS, item.length()));
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(item)) {
      throw new IllegalArgumentException("an item has half of a surrogate pair");
    }
    byte[] bytes = item.getBytes(StandardCharsets.UTF_8);
    String key = prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    return key.length() <= VersionedDocuments.KEY_BYTES ? key : prefix + "~" + hash(bytes);
  }

  private static String hash(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
