package io.millrace.cluster.remote.outcome;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * How a lambda failed on the member that ran it.
 *
 * @param type the class name of the exception
 * @param message its message, truncated to 2,000 characters; empty for none
 * @param trace the stack trace as Java prints it, truncated to 16,000 characters
 */
public record RemoteFailure(String type, String message, String trace) {
  private static final int MESSAGE_CHARS = 2_000;
  private static final int TRACE_CHARS = 16_000;

  /** Truncates message and trace. */
  public RemoteFailure {
    message = cut(message, MESSAGE_CHARS);
    trace = cut(trace, TRACE_CHARS);
  }

  /** Describes an exception as far as possible; its own methods may fail. */
  public static RemoteFailure of(Throwable thrown) {
    String type = thrown.getClass().getName();
    try {
      String message = thrown.getMessage();
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      return new RemoteFailure(type, message == null ? "" : message, trace.toString());
    } catch (RuntimeException | StackOverflowError e) {
      // Users' classes may have any getMessage.
      return new RemoteFailure(type, "", "");
    }
  }

  /** Truncates a text, without splitting a surrogate pair, which no document can contain. */
  private static String cut(String text, int max) {
    StringBuilder whole = new StringBuilder();
    text.codePoints()
        .takeWhile(c -> whole.length() + Character.charCount(c) <= max)
        .forEach(c -> whole.appendCodePoint(isSurrogate(c) ? '?' : c));
    return whole.toString();
  }

  private static boolean isSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
