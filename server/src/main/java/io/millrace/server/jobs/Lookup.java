package io.millrace.server.jobs;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.jobs.Batch;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;

/** Finds what a path names. */
record Lookup(JobRegistry registry) {
  /**
   * The job of {@code {key}}: a key or a GUID.
   *
   * @throws HttpProblem 404 if there is none
   */
  Job job(Request request) {
    String key = request.parameter("key");
    return registry.find(key).orElseThrow(() -> noJob(key));
  }

  /**
   * The batch of {@code {batch}}.
   *
   * @throws HttpProblem 404 if there is none
   */
  Batch batch(Request request) {
    String text = request.parameter("batch");
    try {
      return registry.batch(Long.parseLong(text)).orElseThrow(() -> noBatch(text));
    } catch (NumberFormatException _) {
      throw noBatch(text);
    }
  }

  /** There is no such job: 404. */
  static HttpProblem noJob(String keyOrId) {
    return HttpProblem.notFound("there is no job " + keyOrId);
  }

  private static HttpProblem noBatch(String text) {
    return HttpProblem.notFound("there is no batch " + text);
  }
}
