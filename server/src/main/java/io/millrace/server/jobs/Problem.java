package io.millrace.server.jobs;

import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Reply;
import tools.jackson.databind.node.ObjectNode;

/** The form of errors here: {@code problem}, as GridLike has it, and {@code error} as elsewhere. */
final class Problem {
  private Problem() {}

  static Reply.Whole reply(HttpProblem problem) {
    ObjectNode body = Json.object();
    body.put("problem", problem.message());
    body.put("error", problem.message());
    return new Reply.Whole(problem.status(), Reply.JSON, problem.headers(), Json.bytes(body));
  }

  /** There is no such job: 404. */
  static HttpProblem noJob(String keyOrId) {
    return HttpProblem.notFound("there is no job " + keyOrId);
  }

  /** What was asked does not fit to how things stand: 409. */
  static HttpProblem conflict(String message) {
    return new HttpProblem(409, message);
  }
}
