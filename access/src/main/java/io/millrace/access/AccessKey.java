package io.millrace.access;

import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a key; the key itself is shown once and kept as a hash. Immutable.
 *
 * @param prefix the part of the key by which it is called, unique
 * @param principal whose key it is
 * @param name for people; may be empty
 * @param created when it was created
 * @param createdBy which principal created it
 * @param expires from when on it does not count; null for never
 * @param lastUsed about when it was used last, to the minute; null for never
 */
public record AccessKey(
    String prefix,
    String principal,
    String name,
    Instant created,
    String createdBy,
    @Nullable Instant expires,
    @Nullable Instant lastUsed) {
  private static final String MARK = "mr_";
  private static final int PREFIX_LENGTH = 8;
  private static final int PREFIX_END = MARK.length() + PREFIX_LENGTH;
  private static final int SECRET_LENGTH = 43;
  private static final String LETTERS =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  private static final int LOWER_LETTERS = 36;

  /**
   * A key that was just created.
   *
   * @param text the key itself, {@code mr_PREFIX_SECRET}, of 256 random bits: to be shown once
   * @param key what is known of it
   */
  public record Created(String text, AccessKey key) {
    @Override
    public String toString() {
      return "(the key " + key.prefix() + ")";
    }
  }

  /** The same with the time of its last use; null if it was never used. */
  AccessKey usedAt(@Nullable Instant time) {
    return new AccessKey(prefix, principal, name, created, createdBy, expires, time);
  }

  /** The mark with which keys begin. */
  static String mark() {
    return MARK;
  }

  /**
   * A new key, or a session.
   *
   * @param mark of three characters, with which its text begins
   */
  static String generate(String mark, RandomGenerator random) {
    StringBuilder text = new StringBuilder(mark);
    synchronized (random) {
      for (int i = 0; i < PREFIX_LENGTH; i++) {
        text.append(LETTERS.charAt(random.nextInt(LOWER_LETTERS)));
      }
      text.append('_');
      for (int i = 0; i < SECRET_LENGTH; i++) {
        text.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
      }
    }
    return text.toString();
  }

  /**
   * The prefix of a key; null if the text is not of the form of a key.
   *
   * @param text what a caller showed
   */
  public static @Nullable String prefixOf(String text) {
    return prefixOf(MARK, text);
  }

  /** The prefix of a text that begins with this mark; null if it is not of that form. */
  static @Nullable String prefixOf(String mark, String text) {
    return text.length() == PREFIX_END + 1 + SECRET_LENGTH
            && text.startsWith(mark)
            && text.charAt(PREFIX_END) == '_'
        ? text.substring(MARK.length(), PREFIX_END)
        : null;
  }

  /** What is kept of the text of a key. */
  static byte[] hash(String text) {
    return Sha256.begin().digest(text.getBytes(StandardCharsets.UTF_8));
  }
}
