package io.millrace.server.audit;

import io.millrace.access.audit.AuditEntry;
import io.millrace.access.audit.AuditEntry.Filter;
import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditEntry.Result;
import io.millrace.access.audit.AuditLog;
import io.millrace.access.audit.AuditLog.Found;
import io.millrace.access.audit.AuditLog.Page;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.http.message.Response;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the audit log: in pages, or all of it as CSV or JSON. A caller sees what is about its
 * reach; only administrators without a limit see entries about principals, keys and failed
 * sign-ins.
 *
 * @param reachesNode whether the reach of a request includes a graph node, by its id
 */
record AuditRoutes(AuditLog log, BiPredicate<Request, String> reachesNode) {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;
  private static final Set<String> KINDS_OF_ACCESS = Set.of("principal", "key", "sign-in");
  private static final Pattern ID = Pattern.compile("[0-9]{13}[0-9a-z.-]{0,30}");
  private static final String[] FILTERS = {
    "principal", "key", "address", "kind", "action", "result", "id", "from", "to"
  };
  private static final List<String> COLUMNS =
      List.of(
          "id",
          "time",
          "principal",
          "key",
          "address",
          "api",
          "action",
          "area",
          "scope",
          "result",
          "status",
          "count",
          "first",
          "last",
          "until");

  List<Route> routes() {
    ApiRoutes api =
        ApiRoutes.below("/audit").errors(ErrorForm.PROBLEM_DETAILS).role(Role.OPERATOR).limitable();
    api.strictQuery(with("order", "after", "limit")).get("", this::list);
    api.strictQuery(with("format")).get("/export", this::export);
    return api.routes();
  }

  private static Set<String> with(String... more) {
    return Stream.concat(Arrays.stream(FILTERS), Arrays.stream(more))
        .collect(Collectors.toUnmodifiableSet());
  }

  private Response list(Request request) {
    Query query = request.query();
    int limit = (int) query.integer("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    String after = query.text("after").orElse(null);
    if (after != null && !ID.matcher(after).matches()) {
      throw HttpProblem.malformed("after is the id of an entry, not \"" + after + "\"");
    }
    String order = query.text("order").orElse("newest");
    Span span = Span.of(query);
    Predicate<AuditEntry> wanted = wanted(request);
    Page page =
        switch (order) {
          case "newest" -> log.newest(span.from, span.to, after, wanted, limit);
          case "oldest" -> log.oldest(span.from, span.to, after, wanted, limit);
          default ->
              throw HttpProblem.malformed("order is newest or oldest, not \"" + order + "\"");
        };
    ObjectNode response = Json.object();
    response.set("entries", Json.array(page.entries(), AuditRoutes::of));
    return Json.response(response.put("next", page.next()));
  }

  private Response export(Request request) {
    String format = request.query().text("format").orElse("csv");
    Span span = Span.of(request.query());
    Predicate<AuditEntry> wanted = wanted(request);
    return switch (format) {
      case "csv" ->
          Response.streamed("text/csv; charset=utf-8", target -> writeCsv(span, wanted, target));
      case "json" -> Response.streamed(Response.JSON, target -> writeJson(span, wanted, target));
      default -> throw HttpProblem.malformed("format is csv or json, not \"" + format + "\"");
    };
  }

  private Predicate<AuditEntry> wanted(Request request) {
    Query query = request.query();
    Filter filter =
        new Filter(
            query.text("principal").orElse(null),
            query.text("key").orElse(null),
            query.text("address").orElse(null),
            query.text("kind").orElse(null),
            query.text("action").orElse(null),
            query.text("result").map(AuditRoutes::result).orElse(null),
            query.text("id").orElse(null));
    return entry -> filter.matches(entry) && isVisible(request, entry);
  }

  private static Result result(String word) {
    return Arrays.stream(Result.values())
        .filter(result -> result.word().equals(word))
        .findAny()
        .orElseThrow(
            () -> HttpProblem.malformed("result is done, refused or failed, not \"" + word + "\""));
  }

  private boolean isVisible(Request request, AuditEntry entry) {
    Origin origin = entry.origin();
    Caller caller = request.caller();
    if (KINDS_OF_ACCESS.contains(origin.kind())) {
      return caller.may(Role.ADMIN) && caller.reach().coversEverything();
    }
    if (caller.reach().coversEverything()) {
      return true;
    }
    String area = origin.area();
    if (area == null) {
      return false;
    }
    return switch (Area.valueOf(area.toUpperCase(Locale.ROOT))) {
      case GRAPH ->
          Stream.of(origin.scope(), entry.first(), entry.last())
              .allMatch(node -> node != null && reachesNode.test(request, node));
      case Area other -> caller.reach().includes(other, origin.scope());
    };
  }

  /**
   * A span of time.
   *
   * @param from its first moment
   * @param to the first moment after it
   */
  private record Span(Instant from, Instant to) {
    static Span of(Query query) {
      return new Span(
          query.text("from").map(text -> time("from", text)).orElse(Instant.EPOCH),
          query.text("to").map(text -> time("to", text)).orElse(Instant.MAX));
    }

    private static Instant time(String name, String text) {
      try {
        return OffsetDateTime.parse(text.toUpperCase(Locale.ROOT)).toInstant();
      } catch (DateTimeException _) {
        throw HttpProblem.malformed(
            name + " is a time with an offset, for example 2026-12-24T18:00:00Z, not " + text);
      }
    }
  }

  private interface Writing {
    void write(Found found) throws IOException;
  }

  private void each(Span span, Predicate<AuditEntry> wanted, Writing writing) throws IOException {
    String after = null;
    do {
      Page page = log.oldest(span.from, span.to, after, wanted, MAX_LIMIT);
      for (Found found : page.entries()) {
        writing.write(found);
      }
      after = page.next();
    } while (after != null);
  }

  private void writeJson(Span span, Predicate<AuditEntry> wanted, OutputStream target)
      throws IOException {
    byte[] comma = ",\n".getBytes(StandardCharsets.US_ASCII);
    boolean[] begun = new boolean[1];
    target.write('[');
    each(
        span,
        wanted,
        found -> {
          if (begun[0]) {
            target.write(comma);
          }
          begun[0] = true;
          target.write(Json.bytes(of(found)));
        });
    target.write("]\n".getBytes(StandardCharsets.US_ASCII));
  }

  private void writeCsv(Span span, Predicate<AuditEntry> wanted, OutputStream target)
      throws IOException {
    target.write((String.join(",", COLUMNS) + "\r\n").getBytes(StandardCharsets.UTF_8));
    each(
        span,
        wanted,
        found -> {
          ObjectNode json = of(found);
          String line =
              COLUMNS.stream()
                  .map(column -> cell(json.path(column).asString("")))
                  .collect(Collectors.joining(",", "", "\r\n"));
          target.write(line.getBytes(StandardCharsets.UTF_8));
        });
  }

  /** A cell of CSV, by RFC 4180. A program for tables must not take it for a formula. */
  private static String cell(String text) {
    String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
    return safe.chars().anyMatch(letter -> ",\"\r\n".indexOf(letter) >= 0)
        ? "\"" + safe.replace("\"", "\"\"") + "\""
        : safe;
  }

  private static ObjectNode of(Found found) {
    AuditEntry entry = found.entry();
    Origin origin = entry.origin();
    return Json.object()
        .put("id", found.id())
        .put("time", entry.time().toString())
        .put("principal", origin.principal())
        .put("key", origin.key())
        .put("address", origin.address())
        .put("api", origin.api())
        .put("action", origin.action())
        .put("area", origin.area())
        .put("scope", origin.area() == null ? null : origin.scope())
        .put("result", origin.result().word())
        .put("status", status(origin))
        .put("count", entry.count())
        .put("first", entry.first())
        .put("last", entry.last())
        .put("until", entry.until().toString());
  }

  private static @Nullable Integer status(Origin origin) {
    return origin.status() == 0 ? null : origin.status();
  }
}
