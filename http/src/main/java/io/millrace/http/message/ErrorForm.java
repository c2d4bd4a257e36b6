package io.millrace.http.message;

import io.millrace.wire.Responses;

/**
 * The form of the errors of a route: each API keeps the form that its existing clients expect.
 * Thread-safe.
 */
@FunctionalInterface
public interface ErrorForm {
  /** {@code {"error": "…"}} with the status of the problem. */
  ErrorForm PLAIN =
      problem ->
          new Response.Whole(
              problem.status(),
              Response.JSON,
              problem.headers(),
              Responses.writeError(problem.message()));

  /** Problem details of RFC 9457, with the message as {@code detail} and as {@code error}. */
  ErrorForm PROBLEM_DETAILS =
      named(
          "Problem",
          problem ->
              new Response.Whole(
                  problem.status(),
                  "application/problem+json",
                  problem.headers(),
                  Responses.writeProblem(
                      problem.status(),
                      ResponseEncoder.reason(problem.status()),
                      problem.message())));

  /** The response for a problem. */
  Response.Whole response(HttpProblem problem);

  /** The name of its schema in the OpenAPI document. */
  default String schema() {
    return "Error";
  }

  /** The same form with a schema of its own in the OpenAPI document. */
  static ErrorForm named(String schema, ErrorForm form) {
    return new ErrorForm() {
      @Override
      public Response.Whole response(HttpProblem problem) {
        return form.response(problem);
      }

      @Override
      public String schema() {
        return schema;
      }
    };
  }
}
