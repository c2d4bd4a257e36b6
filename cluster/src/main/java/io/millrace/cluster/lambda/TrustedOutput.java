package io.millrace.cluster.lambda;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** Writes an object whose parts are all trusted, so that others will read it. */
final class TrustedOutput extends ObjectOutputStream {
  private final Trusted trusted;
  private @Nullable Class<?> untrusted;

  private TrustedOutput(OutputStream to, Trusted trusted) throws IOException {
    super(to);
    this.trusted = trusted;
  }

  /**
   * An object's bytes.
   *
   * @throws IllegalArgumentException naming what cannot cross
   */
  static byte[] write(@Nullable Object object, Trusted trusted) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TrustedOutput output = new TrustedOutput(bytes, trusted)) {
      output.writeObject(object);
      output.check();
    } catch (NotSerializableException e) {
      throw new IllegalArgumentException(
          "class %s cannot cross to another member: it is not serializable"
              .formatted(e.getMessage()),
          e);
    } catch (StackOverflowError e) {
      throw new IllegalArgumentException(
          "cannot cross to another member: it lies in too many levels", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot cross to another member: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  // Nothing is thrown out of these two: after a failure Java writes the exception with them too.
  @Override
  protected void annotateClass(Class<?> type) {
    if (untrusted == null && !trusted.allows(type)) {
      untrusted = type;
    }
  }

  @Override
  protected void annotateProxyClass(Class<?> type) {
    untrusted = type;
  }

  private void check() {
    if (untrusted != null) {
      throw new IllegalArgumentException(
          "class %s cannot cross to another member: it is not trusted"
              .formatted(untrusted.getName()));
    }
  }
}
