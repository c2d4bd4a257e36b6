package io.millrace.cluster.lambda;

import io.millrace.store.environment.FileProblem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of a cluster, which only its members know: a party that knows it can have every member
 * run code. Keep it in a file that only their user can read. Safe for use by any number of threads.
 */
public final class ClusterSecret {
  /** The minimum bytes of a secret. */
  public static final int MIN_BYTES = 16;

  /** The maximum bytes of a secret. */
  public static final int MAX_BYTES = 1_024;

  private static final String ALGORITHM = "HmacSHA256";
  private static final int READ_BYTES = 4 * MAX_BYTES;

  private final byte[] secret;

  private ClusterSecret(byte[] secret) {
    this.secret = secret;
  }

  /**
   * Creates a secret of these bytes, which are copied.
   *
   * @param secret {@value #MIN_BYTES} to {@value #MAX_BYTES} bytes that cannot be guessed
   * @throws IllegalArgumentException if they are fewer or more
   */
  public static ClusterSecret of(byte[] secret) {
    if (secret.length < MIN_BYTES || secret.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a cluster's secret has %d to %d bytes, not %d"
              .formatted(MIN_BYTES, MAX_BYTES, secret.length));
    }
    return new ClusterSecret(secret.clone());
  }

  /**
   * Reads a secret from a file: all of its bytes without trailing line ends.
   *
   * @throws IllegalArgumentException naming the file if it cannot be read, or has fewer or more
   *     bytes than a secret
   */
  public static ClusterSecret read(Path file) {
    try (InputStream stream = Files.newInputStream(file)) {
      // The number of bytes is limited, because the file may be an endless device.
      byte[] bytes = stream.readNBytes(READ_BYTES);
      int length = bytes.length;
      while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r')) {
        length--;
      }
      return of(Arrays.copyOf(bytes, length));
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("there is no secret file " + file, e);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the secret file " + file + ": " + FileProblem.reason(e), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("secret file " + file + ": " + e.getMessage(), e);
    }
  }

  /**
   * Signs a text. The signature has 64 hexadecimal digits, and cannot be made without the secret.
   *
   * @param purpose the purpose of the signature; it is not valid for another one
   */
  public String sign(String purpose, String text) {
    Mac mac = mac("text " + purpose);
    return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Whether a text was signed with this secret for this purpose. */
  public boolean isSigned(String purpose, String text, String signature) {
    // Compares in constant time.
    return MessageDigest.isEqual(
        sign(purpose, text).getBytes(StandardCharsets.UTF_8),
        signature.getBytes(StandardCharsets.UTF_8));
  }

  /** A MAC that is keyed for one purpose, so that its signatures are not valid for another. */
  Mac mac(String purpose) {
    byte[] key = keyed(secret).doFinal(purpose.getBytes(StandardCharsets.UTF_8));
    return keyed(key);
  }

  private static Mac keyed(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no " + ALGORITHM, e);
    }
  }

  /** Does not show the secret. */
  @Override
  public String toString() {
    return "a cluster's secret";
  }
}
