package io.millrace.http;

/**
 * Thrown by a handler whose client has closed the connection while it waited. The request is not
 * answered, and nothing has failed. Costs no stack trace.
 */
public final class ClientGoneException extends HttpException {
  private static final long serialVersionUID = 1;

  /** A client that has gone. */
  public ClientGoneException() {
    super("the client has closed the connection");
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
