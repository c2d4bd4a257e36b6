package io.millrace.http.message;

import io.millrace.wire.Answers;

/**
 * The form of the errors of a route: each API keeps the form that its existing clients expect.
 * Thread-safe.
 */
@FunctionalInterface
public interface ErrorForm {
  /** {@code {"error": "…"}} with the status of the problem. */
  ErrorForm PLAIN =
      problem ->
          new Reply.Whole(
              problem.status(),
              Reply.JSON,
              problem.headers(),
              Answers.writeError(problem.message()));

  /** Problem details of RFC 9457, with the message as {@code detail} and as {@code error}. */
  ErrorForm PROBLEM_DETAILS =
      problem ->
          new Reply.Whole(
              problem.status(),
              "application/problem+json",
              problem.headers(),
              Answers.writeProblem(
                  problem.status(), ReplyText.reason(problem.status()), problem.message()));

  /** The reply for a problem. */
  Reply.Whole reply(HttpProblem problem);
}
