package io.millrace.cluster.lambda;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidClassException;
import java.io.NotSerializableException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** Serializes and deserializes objects that consist of trusted classes only. */
final class TrustedSerialization {
  private TrustedSerialization() {}

  /**
   * Deserializes an object.
   *
   * @throws RefusedLambdaException if the bytes are damaged, or contain a class that is not trusted
   */
  static @Nullable Object read(byte[] bytes, TrustedClasses trusted) {
    try (Input input = new Input(new ByteArrayInputStream(bytes), trusted)) {
      Object object = input.readObject();
      if (input.read() >= 0) {
        throw new RefusedLambdaException("there are bytes after the object");
      }
      return object;
    } catch (RefusedLambdaException e) {
      throw e;
    } catch (InvalidClassException e) {
      throw e.getCause() instanceof RefusedLambdaException refused ? refused : damaged(e);
    } catch (ClassNotFoundException e) {
      throw new RefusedLambdaException(
          "there is no class " + e.getMessage() + " on this member's class path", e);
    } catch (IOException | RuntimeException | LinkageError e) {
      // Users' classes may throw anything when they are deserialized.
      throw damaged(e);
    }
  }

  private static RefusedLambdaException damaged(Throwable cause) {
    return new RefusedLambdaException("it cannot be deserialized: " + cause, cause);
  }

  /**
   * Serializes an object.
   *
   * @throws IllegalArgumentException if the object cannot be sent; the message says why
   */
  static byte[] write(@Nullable Object object, TrustedClasses trusted) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Output output = new Output(bytes, trusted)) {
      output.writeObject(object);
      output.check();
    } catch (NotSerializableException e) {
      throw new IllegalArgumentException(
          "class %s cannot be sent to another member: it is not serializable"
              .formatted(e.getMessage()),
          e);
    } catch (StackOverflowError e) {
      throw new IllegalArgumentException(
          "cannot be sent to another member: it is nested too deeply", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot be sent to another member: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  /** Reads an object of trusted classes, up to some size. */
  private static final class Input extends ObjectInputStream {
    /** The maximum depth of nested objects. */
    static final int MAX_DEPTH = 64;

    /** The maximum number of references to objects. */
    static final int MAX_REFERENCES = 50_000;

    /**
     * The maximum length of an array, and the maximum capacity that a collection allocates in
     * advance.
     */
    static final int MAX_ARRAY_LENGTH = LambdaCodec.MAX_BYTES;

    private final TrustedClasses trusted;

    private Input(InputStream from, TrustedClasses trusted) throws IOException {
      super(from);
      this.trusted = trusted;
      setObjectInputFilter(this::check);
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass description) throws ClassNotFoundException {
      return trusted.find(description.getName());
    }

    @Override
    protected Class<?> resolveProxyClass(String[] interfaces) {
      throw new RefusedLambdaException("dynamic proxies are not trusted");
    }

    /** Java calls this before it creates an object, and collections before they allocate. */
    private ObjectInputFilter.Status check(ObjectInputFilter.FilterInfo info) {
      Class<?> type = info.serialClass();
      if (type != null && !trusted.allows(type)) {
        throw new RefusedLambdaException("class " + type.getName() + " is not trusted");
      }
      check("levels", info.depth(), MAX_DEPTH);
      check("references", info.references(), MAX_REFERENCES);
      check("elements of an array", info.arrayLength(), MAX_ARRAY_LENGTH);
      check("bytes", info.streamBytes(), LambdaCodec.MAX_BYTES);
      return ObjectInputFilter.Status.ALLOWED;
    }

    private static void check(String what, long count, long max) {
      if (count > max) {
        throw new RefusedLambdaException("more than " + max + " " + what);
      }
    }
  }

  /** Writes an object of trusted classes, so that other members accept it. */
  private static final class Output extends ObjectOutputStream {
    private final TrustedClasses trusted;
    private @Nullable Class<?> untrusted;

    private Output(OutputStream to, TrustedClasses trusted) throws IOException {
      super(to);
      this.trusted = trusted;
    }

    // These two methods throw nothing, because after a failure Java calls them to write the
    // exception.
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
            "class %s cannot be sent to another member: it is not trusted"
                .formatted(untrusted.getName()));
      }
    }
  }
}
