package io.millrace.server.http;

import io.millrace.wire.Answers;

/** The one form of errors, {@code {"error": "…"}}, for APIs that have no other. */
public final class Problems {
  private Problems() {}

  /** The answer that says what is wrong. */
  public static Reply.Whole reply(HttpProblem problem) {
    return new Reply.Whole(
        problem.status(), Reply.JSON, problem.headers(), Answers.writeError(problem.message()));
  }
}
