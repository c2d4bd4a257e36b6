package io.millrace.server.access;

import io.millrace.access.AccessException.UnknownPrincipalException;
import io.millrace.access.AccessKey;
import io.millrace.access.AccessRegistry;
import io.millrace.access.AccessRegistry.Change;
import io.millrace.access.AccessRegistry.NewKey;
import io.millrace.access.AccessRegistry.NewPrincipal;
import io.millrace.access.Principal;
import io.millrace.access.Reach;
import io.millrace.access.Role;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.security.Principals;
import io.millrace.server.security.SessionCookies;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The routes of principals and keys: all but one's own entry need the role admin.
 *
 * @param provider what the provider of identities is called; null if there is none
 */
record AccessRoutes(
    AccessRegistry registry,
    List<ConfiguredPrincipal> configured,
    SessionRoutes sessions,
    @Nullable String provider) {
  private static final int MAX_BODY_BYTES = 1 << 18;
  private static final Set<String> OF_REACH =
      Set.of("groups", "queues", "types", "graph", "blobs", "cluster");
  private static final Set<String> OF_KEY = Set.of("name", "expires");
  private static final Set<String> OF_PRINCIPAL =
      Set.of("name", "roles", "reach", "note", "password", "rate", "key");
  private static final Set<String> OF_CHANGE =
      Set.of("roles", "reach", "note", "password", "disabled", "rate");

  /** Keeps proxies and browsers from storing responses that contain a secret. */
  private static final Map<String, String> UNKEPT = Map.of("Cache-Control", "no-store");

  List<Route> routes() {
    ApiRoutes api = ApiRoutes.below("/access").errors(ErrorForm.PROBLEM_DETAILS);
    ApiRoutes admin = api.role(Caller.Role.ADMIN);
    admin
        .get("/principals", _ -> principals())
        .get("/principals/{name}", this::show)
        .get("/keys", _ -> Json.response(Json.array(registry.keys(), AccessRoutes::of)))
        .action("principal.delete")
        .delete("/principals/{name}", this::delete)
        .action("key.revoke")
        .delete("/keys/{prefix}", this::revoke);
    admin
        .body(Route.Body.JSON, OF_PRINCIPAL)
        .action("principal.create")
        .post("/principals", this::create)
        .body(Route.Body.JSON, OF_CHANGE)
        .action("principal.change")
        .patch("/principals/{name}", this::change)
        .body(Route.Body.JSON, OF_KEY)
        .action("key.create")
        .post("/principals/{name}/keys", this::addKey);
    api.role(Caller.Role.ANYONE).get("/me", this::me);
    return api.routes();
  }

  private Response principals() {
    ArrayNode all = Json.array(registry.principals(), AccessRoutes::of);
    configured.forEach(each -> all.add(of(each)));
    return Json.response(all);
  }

  private Optional<ConfiguredPrincipal> configured(String name) {
    return configured.stream().filter(each -> each.caller().principal().equals(name)).findAny();
  }

  /** The principal that a request changes; its name is never that of a configured one. */
  private String changed(Request request) {
    String name = request.parameter("name");
    configured(name)
        .ifPresent(each -> {
          throw new HttpProblem(
              409, name + " is configured by " + each.setting() + ", and is changed only there");
        });
    return name;
  }

  private Response show(Request request) {
    String name = request.parameter("name");
    ConfiguredPrincipal fixed = configured(name).orElse(null);
    if (fixed != null) {
      return Json.response(of(fixed).set("keys", Json.array()));
    }
    Principal principal =
        registry
            .principal(name)
            .orElseThrow(
                () -> new UnknownPrincipalException("there is no principal \"" + name + "\""));
    ObjectNode shown = of(principal);
    shown.set(
        "keys",
        Json.array(
            registry.keys().stream().filter(key -> key.principal().equals(name)).toList(),
            AccessRoutes::of));
    return Json.response(shown);
  }

  private Response create(Request request) throws IOException {
    ObjectNode body = Json.objectBody(request, MAX_BODY_BYTES);
    Json.checkFields("a principal", body, OF_PRINCIPAL);
    Set<Role> roles = roles(body);
    if (roles == null) {
      throw HttpProblem.malformed("roles is required: a list of roles");
    }
    Reach reach = reach(body);
    JsonNode key = body.get("key");
    String name = required("name", body);
    request.changed(1, name, name);
    AccessRegistry.Created created =
        registry.create(
            new NewPrincipal(
                name,
                roles,
                reach == null ? Reach.EVERYTHING : reach,
                text("note", body, ""),
                Json.text("password", body.get("password")),
                rate(body.get("rate"))),
            key == null || key.isNull() ? null : key(object("key", key)),
            by(request));
    ObjectNode shown = of(created.principal());
    if (created.key() != null) {
      shown.set("key", of(created.key()));
    }
    return Json.response(201, UNKEPT, shown);
  }

  private Response change(Request request) throws IOException {
    String name = changed(request);
    ObjectNode body = Json.objectBody(request, MAX_BODY_BYTES);
    Json.checkFields("a change of a principal", body, OF_CHANGE);
    if (body.isEmpty()) {
      throw HttpProblem.malformed("the body changes nothing");
    }
    JsonNode password = body.get("password");
    Change change =
        new Change(
            roles(body),
            body.has("reach") && body.path("reach").isNull() ? Reach.EVERYTHING : reach(body),
            Json.text("note", body.get("note")),
            password != null && password.isNull() ? "" : Json.text("password", password),
            bool("disabled", body.get("disabled")),
            body.path("rate").isNull() ? Integer.valueOf(0) : rate(body.get("rate")));
    return Json.response(of(registry.change(name, change)));
  }

  private Response delete(Request request) {
    String name = changed(request);
    registry.delete(name);
    return Json.response(Json.object().put("deleted", name));
  }

  private Response addKey(Request request) throws IOException {
    String name = changed(request);
    NewKey key = key(request.hasBody() ? Json.objectBody(request, MAX_BODY_BYTES) : Json.object());
    return Json.response(201, UNKEPT, of(registry.addKey(name, key, by(request))));
  }

  private Response revoke(Request request) {
    return Json.response(
        Json.object().put("revoked", registry.revoke(request.parameter("prefix")).prefix()));
  }

  /** What the caller itself may do. */
  private Response me(Request request) {
    Caller caller = request.caller();
    ArrayNode roles = Json.array();
    caller.roles().stream()
        .filter(role -> role != Caller.Role.ANYONE)
        .sorted()
        .forEach(role -> roles.add(role.name().toLowerCase(Locale.ROOT)));
    ObjectNode shown = Json.object().put("principal", caller.principal());
    shown.set("roles", roles);
    shown.set(
        "reach",
        caller.reach() instanceof Principals.Limited(Reach reach)
            ? of(reach)
            : Json.MAPPER.nullNode());
    String session = sessions.current(request);
    shown.put("csrf", session == null ? null : SessionCookies.csrfToken(session));
    shown.putObject("sign_in").put("oidc", provider);
    return Json.response(200, UNKEPT, shown);
  }

  private static String by(Request request) {
    return request.caller().principal();
  }

  private static String required(String name, ObjectNode body) {
    String text = Json.text(name, body.get(name));
    if (text == null) {
      throw HttpProblem.malformed(name + " is required");
    }
    return text;
  }

  private static String text(String name, ObjectNode body, String absent) {
    String text = Json.text(name, body.get(name));
    return text == null ? absent : text;
  }

  private static @Nullable Boolean bool(String name, @Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isBoolean()) {
      throw HttpProblem.malformed(name + " must be true or false, not " + Json.shortened(value));
    }
    return value.asBoolean();
  }

  private static @Nullable Integer rate(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isInt() || value.asInt() < 1) {
      throw HttpProblem.malformed(
          "rate must be a number of requests a second from 1, not " + Json.shortened(value));
    }
    return value.asInt();
  }

  private static ObjectNode object(String name, JsonNode value) {
    if (value instanceof ObjectNode object) {
      return object;
    }
    throw HttpProblem.malformed(name + " must be an object, not " + Json.shortened(value));
  }

  /** Null if there are none. */
  private static @Nullable Set<Role> roles(ObjectNode body) {
    JsonNode value = body.get("roles");
    if (value == null || value.isNull()) {
      return null;
    }
    Set<Role> roles = EnumSet.noneOf(Role.class);
    texts("roles", value).forEach(word -> roles.add(Role.of(word)));
    return roles;
  }

  /** Null if there is none. */
  private static @Nullable Reach reach(ObjectNode body) {
    JsonNode value = body.get("reach");
    if (value == null || value.isNull()) {
      return null;
    }
    ObjectNode reach = object("reach", value);
    Json.checkFields("a reach", reach, OF_REACH);
    return new Reach(
        prefixes("groups", reach),
        prefixes("queues", reach),
        prefixes("types", reach),
        prefixes("graph", reach),
        prefixes("blobs", reach),
        prefixes("cluster", reach));
  }

  private static Set<String> prefixes(String name, ObjectNode reach) {
    JsonNode value = reach.get(name);
    return value == null || value.isNull() ? Set.of() : texts("reach." + name, value);
  }

  private static Set<String> texts(String name, JsonNode value) {
    if (!value.isArray()) {
      throw HttpProblem.malformed(
          name + " must be a list of strings, not " + Json.shortened(value));
    }
    Set<String> texts = new LinkedHashSet<>();
    for (JsonNode each : value) {
      if (!each.isString()) {
        throw HttpProblem.malformed(
            name + " must be a list of strings, not " + Json.shortened(value));
      }
      texts.add(each.asString());
    }
    return texts;
  }

  private static NewKey key(ObjectNode body) {
    Json.checkFields("a key", body, OF_KEY);
    String expires = Json.text("expires", body.get("expires"));
    try {
      return new NewKey(text("name", body, ""), expires == null ? null : Instant.parse(expires));
    } catch (DateTimeException _) {
      throw HttpProblem.malformed(
          "expires must be a time like 2027-01-31T00:00:00Z, not \"" + expires + "\"");
    }
  }

  private static ObjectNode of(Principal principal) {
    ObjectNode json = Json.object().put("name", principal.name());
    ArrayNode roles = json.putArray("roles");
    principal.roles().forEach(role -> roles.add(role.word()));
    json.set(
        "reach",
        principal.reach().coversEverything() ? Json.MAPPER.nullNode() : of(principal.reach()));
    return json.put("note", principal.note())
        .put("password", principal.hasPassword())
        .put("rate", principal.rate())
        .put("disabled", principal.disabled())
        .put("created", principal.created().toString())
        .put("created_by", principal.createdBy())
        .putNull("configured");
  }

  private static ObjectNode of(ConfiguredPrincipal principal) {
    ObjectNode json = Json.object().put("name", principal.caller().principal());
    ArrayNode roles = json.putArray("roles");
    principal.roles().forEach(role -> roles.add(role.name().toLowerCase(Locale.ROOT)));
    json.set(
        "reach",
        principal.caller().reach() instanceof Principals.Limited(Reach reach)
            ? of(reach)
            : Json.MAPPER.nullNode());
    return json.put("note", "configured by " + principal.setting())
        .put("password", false)
        .putNull("rate")
        .put("disabled", false)
        .putNull("created")
        .putNull("created_by")
        .put("configured", principal.setting());
  }

  private static ObjectNode of(Reach reach) {
    ObjectNode json = Json.object();
    putAll(json, "groups", reach.groups());
    putAll(json, "queues", reach.queues());
    putAll(json, "types", reach.types());
    putAll(json, "graph", reach.graph());
    putAll(json, "blobs", reach.blobs());
    putAll(json, "cluster", reach.cluster());
    return json;
  }

  private static void putAll(ObjectNode json, String name, Set<String> texts) {
    ArrayNode array = json.putArray(name);
    texts.forEach(array::add);
  }

  private static ObjectNode of(AccessKey key) {
    return Json.object()
        .put("prefix", key.prefix())
        .put("principal", key.principal())
        .put("name", key.name())
        .put("created", key.created().toString())
        .put("created_by", key.createdBy())
        .put("expires", text(key.expires()))
        .put("last_used", text(key.lastUsed()));
  }

  private static ObjectNode of(AccessKey.Created created) {
    return of(created.key()).put("key", created.text());
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : time.toString();
  }
}
