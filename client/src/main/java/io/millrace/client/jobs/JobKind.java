package io.millrace.client.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A kind of job whose payload and result are values. Submitters and workers share it, and may be of
 * different versions: fields that one side does not know are ignored, and those that are missing
 * are null or zero. Immutable.
 *
 * <p>Values are sent as JSON; {@code byte[]} is sent as it is. A result class of {@link Void} is
 * for jobs without a result.
 *
 * @param name the name of the job type, which the server has to know ({@code jobs.types.NAME} in
 *     its configuration). It is stored with every job, so it must stay the same when classes are
 *     renamed
 * @param payload the class of payloads, for example a record
 * @param result the class of results
 * @param <P> payloads
 * @param <R> results
 */
public record JobKind<P, R>(String name, Class<P> payload, Class<R> result) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is not 1 to 64 characters out of {@code A-Z a-z 0-9 . _
   *     -}
   */
  public JobKind {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "the name of a kind of job has 1 to 64 characters out of A-Z a-z 0-9 . _ -, not \""
              + name
              + "\"");
    }
  }

  /** A kind of job with results. */
  public static <P, R> JobKind<P, R> of(String name, Class<P> payload, Class<R> result) {
    return new JobKind<>(name, payload, result);
  }

  /** A kind of job without results. */
  public static <P> JobKind<P, Void> of(String name, Class<P> payload) {
    return new JobKind<>(name, payload, Void.class);
  }

  /** The work on jobs of a kind. Called by several threads at a time. */
  @FunctionalInterface
  public interface Handler<P, R> {
    /**
     * Works on a job, as {@link JobHandler#handle} does.
     *
     * @param payload the payload
     * @param job describes the job and receives progress
     * @return the result; null if there is none
     * @throws JobFailedException if the job failed, with what is to become of it
     * @throws Exception if the job failed
     */
    @Nullable R handle(P payload, JobContext job) throws Exception;
  }

  /**
   * A handler of any job that passes the values on. A payload of another form fails the job with
   * the code {@code payload}.
   */
  public JobHandler handledBy(Handler<P, R> handler) {
    return (content, job) -> {
      P value;
      try {
        value = read(payload, content);
      } catch (JacksonException e) {
        throw new JobFailedException(
                "the payload is no " + payload.getSimpleName() + ": " + e.getOriginalMessage(),
                null)
            .withCode("payload");
      }
      return JobResult.of(write(handler.handle(value, job)));
    };
  }

  /**
   * A payload as bytes.
   *
   * @throws IllegalArgumentException if it cannot be written as JSON
   */
  public byte[] writePayload(P value) {
    try {
      return write(value);
    } catch (JacksonException e) {
      throw new IllegalArgumentException(
          "the payload of a job of kind " + name + " cannot be written: " + e.getOriginalMessage(),
          e);
    }
  }

  /**
   * A result from its bytes.
   *
   * @throws IOException if they cannot be read, or are no such value
   */
  public R readResult(InputStream content) throws IOException {
    try {
      return read(result, content);
    } catch (JacksonException e) {
      throw new IOException(
          "the result of a job of kind " + name + " cannot be read: " + e.getOriginalMessage(), e);
    }
  }

  private static byte[] write(@Nullable Object value) {
    return value instanceof byte[] bytes ? bytes : JSON.writeValueAsBytes(value);
  }

  private static <T> T read(Class<T> type, InputStream content) throws IOException {
    byte[] bytes = content.readAllBytes();
    return type == byte[].class ? type.cast(bytes) : JSON.readValue(bytes, type);
  }
}
