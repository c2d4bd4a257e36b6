package io.millrace.http.message;

/** The root of this module's exceptions. */
public class HttpException extends RuntimeException {
  /** With a message that a person can act on. */
  public HttpException(String message) {
    super(message);
  }

  /** With a message that a person can act on, and the cause. */
  public HttpException(String message, Throwable cause) {
    super(message, cause);
  }
}
