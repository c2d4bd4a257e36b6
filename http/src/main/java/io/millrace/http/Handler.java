package io.millrace.http;

import java.io.IOException;

/** Answers the requests of one route. Called by many threads, each a virtual one that may block. */
@FunctionalInterface
public interface Handler {
  /**
   * The answer to a request.
   *
   * @throws HttpProblem to refuse it
   * @throws IOException when its body cannot be read
   * @throws InterruptedException when the connection is being closed
   */
  Reply handle(Request request) throws IOException, InterruptedException;
}
