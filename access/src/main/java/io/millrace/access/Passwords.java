package io.millrace.access;

import com.password4j.Argon2Function;
import com.password4j.types.Argon2;
import io.millrace.access.AccessException.InvalidAccessException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Hashes of passwords, by Argon2id with 19 MiB, two passes and one lane. One hash takes some 50 ms
 * of a processor, so at most two are computed at a time. Safe for use by threads.
 */
final class Passwords {
  private static final Argon2Function FUNCTION =
      Argon2Function.getInstance(19_456, 2, 1, 32, Argon2.ID);
  private static final int SALT_BYTES = 16;
  private static final int SHORTEST = 10;
  private static final int LONGEST = 1_000;
  private static final int AT_A_TIME = 2;
  private static final long LONGEST_WAIT_SECONDS = 10;

  private final Semaphore room = new Semaphore(AT_A_TIME);
  private final RandomGenerator random;

  /** Checked for unknown names, so that an answer takes as long as for known ones. */
  private @Nullable String nobodys;

  Passwords(RandomGenerator random) {
    this.random = random;
  }

  /**
   * What is kept of a password, with its salt and parameters.
   *
   * @throws InvalidAccessException if it is too short or too long
   */
  String hash(String password) {
    int length = password.codePointCount(0, password.length());
    if (length < SHORTEST || length > LONGEST) {
      throw new InvalidAccessException(
          "a password has %d to %d characters".formatted(SHORTEST, LONGEST));
    }
    byte[] salt = new byte[SALT_BYTES];
    synchronized (random) {
      random.nextBytes(salt);
    }
    enter();
    try {
      return FUNCTION.hash(bytes(password), salt).getResult();
    } finally {
      room.release();
    }
  }

  /** Whether this is the password of which {@code hash} was kept; null if there is none. */
  boolean matches(String password, @Nullable String hash) {
    if (password.length() > 2 * LONGEST) {
      return false;
    }
    String compared = hash == null ? nobodys() : hash;
    enter();
    try {
      boolean same =
          Argon2Function.getInstanceFromHash(compared)
              .check(bytes(password), compared.getBytes(StandardCharsets.US_ASCII));
      return same && hash != null;
    } finally {
      room.release();
    }
  }

  private synchronized String nobodys() {
    String known = nobodys;
    if (known == null) {
      known = hash("a password that is nobody's");
      nobodys = known;
    }
    return known;
  }

  private void enter() {
    try {
      if (!room.tryAcquire(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS)) {
        throw new AccessException("too many passwords are being checked; try again");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AccessException("the server is stopping");
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Compares in constant time. */
  static boolean isSame(byte[] one, byte[] other) {
    return MessageDigest.isEqual(one, other);
  }
}
