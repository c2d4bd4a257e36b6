package io.millrace.server.jobs;

import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobStateException;
import io.millrace.jobs.worker.WrongTokenException;
import io.millrace.server.http.Handler;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.PromptHandler;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.http.Routes;
import java.io.IOException;

/** Adds routes below {@code /api}, and below the prefix too, with one form of errors. */
final class ApiMount {
  private static final String ROOT = "/api";

  private final Routes routes;
  private final String prefix;
  private final Keys keys;

  ApiMount(Routes routes, String prefix, Keys keys) {
    this.routes = routes;
    this.prefix = prefix;
    this.keys = keys;
  }

  /** A route for clients, who need the API key where there is one. */
  void forClients(HttpMethod method, String path, Handler handler) {
    add(
        method,
        path,
        request -> {
          keys.checkClient(request);
          return handler.handle(request);
        });
  }

  /** The same for posts, of which {@code prompt} answers the short ones. */
  void forClients(String path, PromptHandler prompt, Handler handler) {
    PromptHandler checked =
        (request, round) -> {
          keys.checkClient(request);
          return prompt.begin(request, round);
        };
    Handler whole =
        request -> {
          keys.checkClient(request);
          return handler.handle(request);
        };
    routes.addPrompt(ROOT + path, checked, request -> answer(request, whole));
    if (!prefix.isEmpty()) {
      routes.addPrompt(prefix + ROOT + path, checked, request -> answer(request, whole));
    }
  }

  /** A route for workers that hold a claim on a job. */
  void forHolders(HttpMethod method, String path, Handler handler) {
    add(
        method,
        path,
        request -> {
          keys.checkHolder(request);
          return handler.handle(request);
        });
  }

  /** A route for workers that register by themselves. */
  void forWorkers(HttpMethod method, String path, Handler handler) {
    add(method, path, handler);
  }

  private void add(HttpMethod method, String path, Handler handler) {
    routes.add(method, ROOT + path, request -> answer(request, handler));
    if (!prefix.isEmpty()) {
      routes.add(method, prefix + ROOT + path, request -> answer(request, handler));
    }
  }

  private static Reply answer(Request request, Handler handler)
      throws IOException, InterruptedException {
    try {
      return handler.handle(request);
    } catch (HttpProblem e) {
      return Problem.reply(e);
    } catch (InvalidJobException e) {
      return Problem.reply(HttpProblem.malformed(String.valueOf(e.getMessage())));
    } catch (JobStateException e) {
      return Problem.reply(Problem.conflict(String.valueOf(e.getMessage())));
    } catch (WrongTokenException e) {
      return Problem.reply(new HttpProblem(403, String.valueOf(e.getMessage())));
    }
  }
}
