package io.millrace.server.openapi;

import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.wire.Responses;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The OpenAPI document of a server, built from its routes and from the descriptions of its parts.
 * For one thread.
 */
public final class OpenApi {
  private static final String INFO =
      """
      All routes of a Millrace server. A GET answers HEAD too, and every path answers OPTIONS.

      Each operation says which role the caller needs (`x-millrace-role`), whether it serves callers \
      with a limited reach (`x-millrace-reach`), and what the audit log calls it \
      (`x-millrace-action`). A server that requires no credentials gives all roles to callers on \
      the same machine.

      The APIs keep the errors that their old clients expect: see the schemas `Error`, \
      `StoreErrors`, `DciError` and `JobError`. All others have problem details of RFC 9457 \
      (`Problem`). Unknown fields of JSON objects in responses should be ignored by clients: later \
      versions may add some.\
      """;

  private static final Map<String, String> ERRORS =
      Map.of(
          "400", "The request is malformed.",
          "401", "Credentials are missing or wrong.",
          "403",
              "The credentials are wrong or do not suffice, or the page that sends the request may"
                  + " not.",
          "404", "It does not exist.",
          "413", "The body is too large.",
          "429", "Too many requests, or too many attempts with wrong credentials.",
          "5XX",
              "The server cannot do it now (503), or has failed (500, or 504 if it is unknown"
                  + " whether a change was made).");

  private static final Pattern PARAMETER = Pattern.compile("\\{([^}]*)}");
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9]+");

  private static final String STALE =
      "string; the greatest age of the answer, for example `2s`, at most `60s`: a standby may then"
          + " answer, with the header `Millrace-Staleness`";
  private static final String STALE_AFTER =
      "string; with `stale`, a position that the answer must have, such as that of the last one";

  private final String version;
  private final Schemas schemas = new Schemas();
  private final List<PartDescription> all = PartDescription.all();
  private final Map<String, PartDescription> parts = new LinkedHashMap<>();
  private final List<String> gaps = new ArrayList<>();

  private OpenApi(String version) {
    this.version = version;
    for (PartDescription part : all) {
      part.schemas().forEach(schemas::define);
      part.operations()
          .keySet()
          .forEach(operation -> {
            if (parts.put(operation, part) != null) {
              throw new IllegalStateException(operation + " is described twice");
            }
          });
    }
  }

  /**
   * A document, with what is missing in it.
   *
   * @param json the document
   * @param gaps what the descriptions do not say of the routes, or say of none
   */
  public record Document(ObjectNode json, List<String> gaps) {}

  /**
   * The document of these routes.
   *
   * @param version the version of the server
   */
  public static Document of(List<Route> routes, String version) {
    OpenApi api = new OpenApi(version);
    ObjectNode json = api.document(routes);
    return new Document(json, List.copyOf(api.gaps));
  }

  private ObjectNode document(List<Route> routes) {
    ObjectNode paths = Json.object();
    Map<String, PartDescription> unused = new LinkedHashMap<>(parts);
    for (Route route : routes) {
      unused.remove(described(route));
      ObjectNode path = (ObjectNode) paths.get(route.path());
      path = path == null ? paths.putObject(route.path()) : path;
      path.set(route.method().name().toLowerCase(Locale.ROOT), operation(route));
    }
    unused.keySet().forEach(operation -> gaps.add(operation + " is no route"));

    ObjectNode document = Json.object().put("openapi", "3.1.0");
    document
        .putObject("info")
        .put("title", "Millrace")
        .put("version", version)
        .put("description", INFO)
        .putObject("license")
        .put("name", "Apache 2.0")
        .put("identifier", "Apache-2.0");
    document.putArray("servers").addObject().put("url", "/");
    ArrayNode tags = document.putArray("tags");
    all.forEach(
        part -> tags.addObject().put("name", part.name()).put("description", part.description()));
    document.set("paths", paths);
    ObjectNode components = document.putObject("components");
    components.set("schemas", schemas.all());
    components.set("securitySchemes", securitySchemes());
    return document;
  }

  private static ObjectNode securitySchemes() {
    ObjectNode schemes = Json.object();
    schemes
        .putObject("bearer")
        .put("type", "http")
        .put("scheme", "bearer")
        .put(
            "description",
            "The token of the server, an API key of `/access`, or the token of a running command"
                + " of a graph.");
    schemes
        .putObject("basic")
        .put("type", "http")
        .put("scheme", "basic")
        .put(
            "description",
            "The name and password of a user; on `/dci` also any name with the token of the"
                + " server.");
    header(schemes, "apiKey", "X-API-KEY", "The key of `jobs.api-key`.");
    header(schemes, "workerToken", "X-WORKER-TOKEN", "The token of `jobs.worker.token`.");
    return schemes;
  }

  private static void header(ObjectNode schemes, String name, String header, String description) {
    schemes
        .putObject(name)
        .put("type", "apiKey")
        .put("in", "header")
        .put("name", header)
        .put("description", description);
  }

  private static String name(Route route) {
    return route.method() + " " + route.path();
  }

  /** The name under which a route is described: that without a prefix of the configuration. */
  private String described(Route route) {
    String path = route.path();
    for (int begin = 0; begin >= 0; begin = path.indexOf('/', begin + 1)) {
      String name = route.method() + " " + path.substring(begin);
      if (parts.containsKey(name)) {
        return name;
      }
    }
    return name(route);
  }

  private ObjectNode operation(Route route) {
    PartDescription part = parts.get(described(route));
    if (part == null) {
      gaps.add(name(route) + " is not described");
    }
    JsonNode source =
        part == null
            ? Json.object().put("summary", name(route))
            : part.operations().getOrDefault(described(route), Json.object());
    ObjectNode operation = Json.object();
    if (part != null) {
      operation.putArray("tags").add(part.name());
    }
    operation.put("operationId", id(route));
    operation.set("summary", source.path("summary"));
    if (source.has("description")) {
      operation.set("description", source.get("description"));
    }
    ArrayNode parameters = parameters(route, part, source);
    if (!parameters.isEmpty()) {
      operation.set("parameters", parameters);
    }
    if (route.body() != Route.Body.NONE) {
      operation.set("requestBody", requestBody(route, source));
    }
    operation.set("responses", responses(route, part, source));
    operation.set("security", security(route));
    operation.put("x-millrace-role", route.role().name().toLowerCase(Locale.ROOT));
    operation.put("x-millrace-reach", route.limitable());
    if (route.action() != null) {
      operation.put("x-millrace-action", route.action());
    }
    return operation;
  }

  /** For example {@code getStoreGroupByGroup}. */
  private static String id(Route route) {
    StringBuilder id = new StringBuilder(route.method().name().toLowerCase(Locale.ROOT));
    for (String segment : route.path().split("/", -1)) {
      if (segment.startsWith("{")) {
        id.append("By");
      }
      Matcher words = WORD.matcher(segment);
      while (words.find()) {
        String word = words.group();
        id.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
      }
    }
    return id.toString();
  }

  private ArrayNode parameters(Route route, @Nullable PartDescription part, JsonNode source) {
    ArrayNode parameters = Json.array();
    TreeSet<String> known = new TreeSet<>(route.parameters().names());
    Matcher inPath = PARAMETER.matcher(route.path());
    while (inPath.find()) {
      known.add(inPath.group(1));
      parameters.add(parameter(route, part, source, "path", inPath.group(1)));
    }
    new TreeSet<>(route.parameters().names())
        .forEach(name -> parameters.add(parameter(route, part, source, "query", name)));
    if (route.stale()) {
      parameters.add(
          parameter("header", Responses.POSITION_HEADER, Json.MAPPER.valueToTree(STALE_AFTER)));
    }
    if (part != null) {
      source
          .path("headers")
          .forEach(header ->
              parameters.add(
                  parameter("header", header.asString(), part.header(header.asString()))));
    }
    source
        .path("parameters")
        .forEachEntry((name, _) -> {
          if (!known.contains(name)) {
            gaps.add(name(route) + " has no parameter " + name);
          }
        });
    return parameters;
  }

  private ObjectNode parameter(
      Route route, @Nullable PartDescription part, JsonNode source, String in, String name) {
    JsonNode type = part == null ? null : part.parameter(source, name);
    if (type == null && route.stale() && name.equals(Route.STALE)) {
      type = Json.MAPPER.valueToTree(STALE);
    }
    if (type == null) {
      if (part != null) {
        gaps.add(name(route) + " does not describe the parameter " + name);
      }
      type = Json.MAPPER.valueToTree("string");
    }
    return parameter(in, name, type);
  }

  private ObjectNode parameter(String in, String name, JsonNode type) {
    ObjectNode schema = schemas.of(type);
    ObjectNode parameter = Json.object().put("name", name).put("in", in);
    JsonNode description = schema.remove("description");
    if (description != null) {
      parameter.set("description", description);
    }
    if (in.equals("path") || schema.remove("required") != null) {
      parameter.put("required", true);
    }
    return parameter.set("schema", schema);
  }

  private ObjectNode requestBody(Route route, JsonNode source) {
    JsonNode body = source.get("body");
    if (body == null && parts.containsKey(described(route))) {
      gaps.add(name(route) + " does not describe its body");
    }
    ObjectNode schema = schemas.of(body == null ? Json.MAPPER.valueToTree("any") : body);
    compareFields(route, schema);
    ObjectNode request = Json.object();
    JsonNode description = schema.get("description");
    if (description != null) {
      request.set("description", description);
    }
    ObjectNode content = request.putObject("content");
    for (String type :
        switch (route.body()) {
          case NONE -> List.<String>of();
          case JSON -> List.of("application/json");
          case FIELDS -> List.of("application/json", "application/x-www-form-urlencoded");
          case FORM -> List.of("multipart/form-data");
          case BYTES -> List.of("application/octet-stream");
        }) {
      content.putObject(type).set("schema", schema);
    }
    boolean optional =
        route.body() == Route.Body.FIELDS || source.path("optionalBody").asBoolean(false);
    return request.put("required", !optional);
  }

  /**
   * Whether the fields that a route declares are those of the described body, or of each object in
   * it if it is an array.
   */
  private void compareFields(Route route, ObjectNode schema) {
    Set<String> declared = route.parameters().fields();
    JsonNode body = named(schema);
    if (body.has("items")) {
      body = named(body.get("items"));
    }
    Set<String> described = new TreeSet<>(body.path("properties").propertyNames());
    for (String field : new TreeSet<>(declared)) {
      if (!described.remove(field)) {
        gaps.add(name(route) + " does not describe the field " + field + " of its body");
      }
    }
    described.forEach(field -> gaps.add(name(route) + " does not read the field " + field));
  }

  /** A schema itself, if it is that of a name. */
  private JsonNode named(JsonNode schema) {
    String reference = schema.path("$ref").asString("");
    return reference.isEmpty()
        ? schema
        : schemas.named(reference.substring(reference.lastIndexOf('/') + 1));
  }

  private ObjectNode responses(Route route, @Nullable PartDescription part, JsonNode source) {
    Map<String, ObjectNode> responses = new TreeMap<>();
    if (source.has("returns")) {
      responses.put("200", response(part, Json.object().set("schema", source.get("returns"))));
    }
    boolean pages = source.path("errorPages").asBoolean(false);
    errors(route, source)
        .forEach((status, text) -> {
          ObjectNode error = error(route, status, text);
          if (pages) {
            error
                .withObject("content")
                .putObject("text/html")
                .putObject("schema")
                .put("type", "string");
          }
          responses.put(status, error);
        });
    source
        .path("responses")
        .forEachEntry((status, response) -> {
          ObjectNode described = response(part, response);
          if (responses.put(status, described) != null && status.equals("200")) {
            gaps.add(name(route) + " describes " + status + " twice");
          }
        });
    if (part != null && responses.keySet().stream().noneMatch(status -> status.charAt(0) < '4')) {
      gaps.add(name(route) + " does not describe its response");
    }
    ObjectNode all = Json.object();
    responses.forEach(all::set);
    return all;
  }

  /** The statuses of errors with their meanings: those of all such routes, and its own. */
  private static Map<String, String> errors(Route route, JsonNode source) {
    TreeSet<String> statuses = new TreeSet<>(List.of("400", "403", "5XX"));
    boolean hasBody = route.body() != Route.Body.NONE;
    if (route.role() != Role.ANYONE) {
      statuses.addAll(List.of("401", "429"));
    }
    if (route.path().contains("{")) {
      statuses.add("404");
    }
    if (hasBody) {
      statuses.add("413");
    }
    Map<String, String> errors = new TreeMap<>();
    statuses.forEach(status -> errors.put(status, ERRORS.getOrDefault(status, status)));
    source.path("errors").forEachEntry((status, text) -> errors.put(status, text.asString()));
    return errors;
  }

  private ObjectNode error(Route route, String status, String description) {
    ObjectNode response = Json.object().put("description", description);
    ObjectNode content = response.putObject("content");
    if (status.matches("400|5XX")) {
      // What is refused before its route is known.
      error(content, ErrorForm.PLAIN);
    }
    error(content, route.errors());
    return response;
  }

  private void error(ObjectNode content, ErrorForm form) {
    content
        .putObject(String.valueOf(form.response(HttpProblem.malformed("")).type()))
        .set("schema", schemas.of(Json.MAPPER.valueToTree(form.schema())));
  }

  private ObjectNode response(@Nullable PartDescription part, JsonNode source) {
    ObjectNode response = Json.object();
    JsonNode type = source.get("schema");
    ObjectNode schema = type == null ? null : schemas.of(type);
    JsonNode description = schema == null ? null : schema.get("description");
    response.set(
        "description",
        source.has("description")
            ? source.get("description")
            : description == null ? Json.MAPPER.valueToTree("Success.") : description);
    if (part != null && source.has("headers")) {
      ObjectNode headers = response.putObject("headers");
      for (JsonNode header : source.get("headers")) {
        ObjectNode described = schemas.of(part.header(header.asString()));
        ObjectNode target = headers.putObject(header.asString());
        JsonNode text = described.remove("description");
        if (text != null) {
          target.set("description", text);
        }
        target.set("schema", described);
      }
    }
    if (schema != null) {
      response.putObject("content").putObject("application/json").set("schema", schema);
    }
    source
        .path("content")
        .forEachEntry((media, of) ->
            response.withObject("content").putObject(media).set("schema", schemas.of(of)));
    return response;
  }

  private static ArrayNode security(Route route) {
    ArrayNode security = Json.array();
    if (route.role() == Role.ANYONE) {
      return security;
    }
    security.addObject().putArray("bearer");
    security.addObject().putArray("basic");
    route.credentials().schemes().forEach(scheme -> security.addObject().putArray(scheme));
    return security;
  }
}
