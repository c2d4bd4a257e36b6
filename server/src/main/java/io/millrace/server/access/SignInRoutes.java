package io.millrace.server.access;

import io.millrace.access.AccessDirectory;
import io.millrace.access.AccessException;
import io.millrace.access.AccessException.InvalidAccessException;
import io.millrace.access.AccessSession;
import io.millrace.access.Principal;
import io.millrace.http.AccessCheck.Attempt;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import io.millrace.server.access.AccessPart.Published;
import io.millrace.server.access.OidcProvider.Person;
import io.millrace.server.security.SessionCookies.Kind;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The sign-in at a provider of identities, by OpenID Connect with the authorization code flow and
 * PKCE. A browser that navigates gets errors as a page, any other client as problem details.
 */
final class SignInRoutes {
  private static final String CALLBACK = "/callback";
  private static final int MAX_COMPLETED = 10_000;

  private final Sources sources;
  private final @Nullable OidcProvider provider;
  private final AccessDirectory directory;
  private final SessionRoutes sessions;
  private final Published published;

  /** The states of sign-ins that were completed, oldest first; guarded by itself. */
  private final SequencedSet<String> completed = new LinkedHashSet<>();

  /**
   * Where secrets and the time come from.
   *
   * @param random secret and unpredictable; used under its own lock
   */
  record Sources(RandomGenerator random, InstantSource clock) {}

  /**
   * The routes.
   *
   * @param provider null if none is configured; every sign-in is then answered with 404
   */
  SignInRoutes(
      Sources sources,
      @Nullable OidcProvider provider,
      AccessDirectory directory,
      SessionRoutes sessions,
      Published published) {
    this.sources = sources;
    this.provider = provider;
    this.directory = directory;
    this.sessions = sessions;
    this.published = published;
  }

  List<Route> routes() {
    ApiRoutes api =
        ApiRoutes.below("/access").errors(ErrorForm.PROBLEM_DETAILS).role(Caller.Role.ANYONE);
    api.query("return").get("/sign-in", request -> page(request, this::begin));
    api.query("state", "code", "error", "error_description", "iss")
        .action("session.create")
        .get(CALLBACK, request -> page(request, this::complete));
    return api.routes();
  }

  private OidcProvider provider() {
    if (provider == null) {
      throw HttpProblem.notFound(
          "people cannot sign in here with a provider of identities: access.oidc.issuer is not"
              + " configured");
    }
    return provider;
  }

  private Response begin(Request request) {
    SignInState state =
        SignInState.begin(
            request.query().text("return").orElse("/"),
            sources.random(),
            sources.clock().instant());
    URI there = provider().authorization(redirect(request.attempt()), state);
    return redirect(
        there.toString(),
        Map.of(
            "Set-Cookie",
            published
                .cookies()
                .set(Kind.SIGN_IN, state.cookie(), SignInState.LONGEST, request.attempt())));
  }

  private Response complete(Request request) {
    OidcProvider from = provider();
    Attempt attempt = request.attempt();
    String cookie = published.cookies().value(Kind.SIGN_IN, attempt);
    if (cookie == null) {
      throw HttpProblem.malformed(
          "this browser has begun no sign-in, or did so more than %d minutes ago; begin again"
              .formatted(SignInState.LONGEST.toMinutes()));
    }
    SignInState state = new SignInState(cookie);
    Query query = request.query();
    if (!query.text("state").orElse("").equals(state.state())) {
      throw HttpProblem.malformed(
          "the parameter state is not that of the sign-in which this browser has begun; begin"
              + " again");
    }
    String path = state.path(sources.clock().instant());
    query
        .text("error")
        .ifPresent(error -> {
          throw new HttpProblem(
              403,
              "%s refuses the sign-in: %s"
                  .formatted(from.label(), query.text("error_description").orElse(error)));
        });
    String code =
        query
            .text("code")
            .orElseThrow(() -> HttpProblem.malformed("the parameter code is missing"));
    from.checkIssuer(query.text("iss").orElse(null));
    if (!claim(state.state())) {
      throw HttpProblem.malformed("this sign-in was completed before; begin again");
    }
    Person person = from.redeem(code, redirect(attempt), state);
    String name = Principal.nameOutside("oidc", person.name());
    if (directory.rolesOf(person.groups()).isEmpty()) {
      throw new HttpProblem(403, name + " belongs to no group that access.roles names");
    }
    AccessSession.Created created = sessions.replace(name, person.groups(), request);
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Set-Cookie", sessions.cookie(created, attempt));
    // The name of a header has no case, and a response may have several of this one.
    headers.put("set-cookie", published.cookies().set(Kind.SIGN_IN, "", Duration.ZERO, attempt));
    // Relative to this route, so that it stays on this server, below the prefix of a proxy.
    return redirect(".." + path, headers);
  }

  /** Takes a sign-in for completion; false if that was done before. */
  private boolean claim(String state) {
    synchronized (completed) {
      if (completed.size() >= MAX_COMPLETED) {
        var _ = completed.removeFirst();
      }
      return completed.add(state);
    }
  }

  /** Where the provider sends browsers back to. */
  private URI redirect(Attempt attempt) {
    URI url = published.url();
    String base =
        url == null
            ? (published.cookies().isSecure(attempt) ? "https://" : "http://") + attempt.host()
            : url.toString();
    try {
      return URI.create(base + "/access" + CALLBACK);
    } catch (IllegalArgumentException _) {
      throw HttpProblem.malformed("the header Host is malformed");
    }
  }

  private static Response redirect(String location, Map<String, String> headers) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Location", location);
    all.put("Cache-Control", "no-store");
    all.put("Referrer-Policy", "no-referrer");
    return new Response.Whole(303, null, all, new byte[0]);
  }

  /** What a step answers; a browser that navigates gets errors as a page. */
  private static Response page(Request request, Step step) {
    HttpProblem problem;
    try {
      return step.answer(request);
    } catch (HttpProblem e) {
      problem = e;
    } catch (InvalidAccessException e) {
      problem = new HttpProblem(403, String.valueOf(e.getMessage()));
    } catch (AccessException e) {
      problem = HttpProblem.unavailable(String.valueOf(e.getMessage()), 1);
    }
    if (!request.header("Accept").orElse("").contains("text/html")) {
      throw problem;
    }
    Map<String, String> headers = new LinkedHashMap<>(problem.headers());
    headers.put("Cache-Control", "no-store");
    headers.put("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    headers.put("X-Content-Type-Options", "nosniff");
    return new Response.Whole(
        problem.status(),
        "text/html; charset=utf-8",
        headers,
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Sign-in failed · Millrace</title></head>
        <body>
        <h1>You are not signed in</h1>
        <p>%s</p>
        <p><a href="../">Back to the dashboard</a></p>
        </body>
        </html>
        """
            .formatted(escaped(problem.message()))
            .getBytes(StandardCharsets.UTF_8));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** A step of a sign-in. */
  @FunctionalInterface
  private interface Step {
    Response answer(Request request);
  }
}
