package io.millrace.server.access;

import io.millrace.access.AccessException.UnknownPrincipalException;
import io.millrace.access.AccessRegistry;
import io.millrace.access.AccessRegistry.NewSession;
import io.millrace.access.AccessSession;
import io.millrace.http.AccessCheck.Attempt;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.security.SessionCookies;
import io.millrace.server.security.SessionCookies.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes of sessions, which browsers show as a cookie. A principal gets one in exchange for its
 * password or a key.
 *
 * @param length for how long a session may last
 */
record SessionRoutes(AccessRegistry registry, SessionCookies cookies, Duration length) {
  private static final String NO_STORE = "no-store";

  List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/access").errors(ErrorForm.PROBLEM_DETAILS);
    ApiRoutes all = api.role(Caller.Role.ANYONE);
    all.action("session.create").post("/sessions", this::create);
    all.action("session.end").post("/sign-out", this::signOut);
    ApiRoutes admin = api.role(Caller.Role.ADMIN);
    admin
        .get("/sessions", _ -> Json.response(Json.array(registry.sessions(), SessionRoutes::of)))
        .action("session.end")
        .delete("/sessions/{prefix}", this::end);
    return api.routes();
  }

  private Response create(Request request) {
    Caller caller = request.caller();
    if (!caller.isKnown()) {
      throw request.route().credentials().absent();
    }
    if (current(request) != null) {
      throw new HttpProblem(409, caller.principal() + " has a session already");
    }
    if (registry.principal(caller.principal()).isEmpty()) {
      throw new HttpProblem(
          409, "only principals with a password or a key have sessions, not " + caller.principal());
    }
    AccessSession.Created created =
        registry.createSession(
            new NewSession(
                caller.principal(), caller.key(), null, length, request.client().getHostAddress()));
    AccessSession session = created.session();
    request.changed(1, session.prefix(), session.prefix());
    return Json.response(
        201,
        Map.of("Cache-Control", NO_STORE, "Set-Cookie", cookie(created, request.attempt())),
        of(session).put("csrf", SessionCookies.csrfToken(created.text())));
  }

  /**
   * Creates a session of somebody who has signed in elsewhere. The session that the browser had
   * before ends.
   */
  AccessSession.Created replace(String name, Set<String> groups, Request request) {
    if (current(request) != null) {
      try {
        var _ = registry.endSession(String.valueOf(request.caller().key()));
      } catch (UnknownPrincipalException _) {
        // It has ended by itself meanwhile.
      }
    }
    AccessSession.Created created =
        registry.createSession(
            new NewSession(name, null, groups, length, request.client().getHostAddress()));
    request.changed(1, created.session().prefix(), created.session().prefix());
    return created;
  }

  /** The header {@code Set-Cookie} with a session that was just created. */
  String cookie(AccessSession.Created created, Attempt attempt) {
    AccessSession session = created.session();
    return cookies.set(
        Kind.SESSION,
        created.text(),
        Duration.between(session.created(), session.expires()),
        attempt);
  }

  private Response signOut(Request request) {
    String text = current(request);
    String ended = null;
    if (text == null) {
      request.changed(0, null, null);
    } else {
      ended = registry.endSession(String.valueOf(request.caller().key())).prefix();
      request.changed(1, ended, ended);
    }
    return Json.response(
        200,
        Map.of(
            "Cache-Control",
            NO_STORE,
            "Set-Cookie",
            cookies.set(Kind.SESSION, "", Duration.ZERO, request.attempt())),
        Json.object().put("ended", ended));
  }

  private Response end(Request request) {
    return Json.response(
        Json.object().put("ended", registry.endSession(request.parameter("prefix")).prefix()));
  }

  /**
   * The text of the session by which the caller of a request is known; null if it is not by one.
   */
  @Nullable String current(Request request) {
    String text = cookies.value(Kind.SESSION, request.attempt());
    String prefix = text == null ? null : AccessSession.prefixOf(text);
    return prefix != null && prefix.equals(request.caller().key()) ? text : null;
  }

  static ObjectNode of(AccessSession session) {
    ObjectNode json =
        Json.object()
            .put("prefix", session.prefix())
            .put("principal", session.principal())
            .put("key", session.key());
    Set<String> groups = session.groups();
    if (groups == null) {
      json.putNull("groups");
    } else {
      ArrayNode array = json.putArray("groups");
      groups.forEach(array::add);
    }
    return json.put("created", session.created().toString())
        .put("expires", session.expires().toString())
        .put("last_used", session.lastUsed().toString())
        .put("address", session.address());
  }
}
