package io.millrace.server.why;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import io.millrace.work.Explanation;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.SharedLimits.Usage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/** Answers why a queue task, a job or a node of a graph waits, under {@code /why}. */
public final class WhyPart implements Part {
  private final Map<String, Explainer> explainers;
  private final Map<String, Holder> holders;

  /**
   * A part for these kinds of work.
   *
   * @param explainers by the kind, as in {@link Explanation#kind}
   * @param holders by the kind, too
   */
  public WhyPart(Map<String, Explainer> explainers, Map<String, Holder> holders) {
    this.explainers = new TreeMap<>(explainers);
    this.holders = Map.copyOf(holders);
  }

  /** Explains one kind of work. */
  @FunctionalInterface
  public interface Explainer {
    /**
     * Why the work with this id waits; empty if there is none within the caller's reach.
     *
     * @param sharing finds what uses up a shared limit
     */
    Optional<Explanation> explain(Request request, String id, Sharing sharing);
  }

  /** Finds work of one kind that uses up a shared limit. */
  @FunctionalInterface
  public interface Holder {
    /** What runs under the limit, with the ids of what is within the caller's reach. */
    Running of(Request request, Usage usage);
  }

  @Override
  public List<Route> routes() {
    return ApiRoutes.below("/why")
        .errors(ErrorForm.PROBLEM_DETAILS)
        .strictQuery(Set.of("kind"))
        .limitable()
        .get("/{id}", this::why)
        .routes();
  }

  private Response why(Request request) {
    String kind = request.query().text("kind").orElse("");
    if (!kind.isEmpty() && !explainers.containsKey(kind)) {
      throw HttpProblem.malformed(
          "kind must be one of " + String.join(", ", explainers.keySet()) + ", not " + kind);
    }
    String id = request.parameter("id");
    Sharing sharing =
        usage -> {
          Map<String, Running> running = new TreeMap<>();
          holders.forEach((of, holder) -> running.put(of, holder.of(request, usage)));
          return running;
        };
    List<Explanation> found =
        explainers.entrySet().stream()
            .filter(each -> kind.isEmpty() || each.getKey().equals(kind))
            .flatMap(each -> each.getValue().explain(request, id, sharing).stream())
            .toList();
    if (found.isEmpty()) {
      String what = kind.isEmpty() ? String.join(" or ", explainers.keySet()) : kind;
      throw HttpProblem.notFound("there is no " + what + " with the id " + id);
    }
    if (found.size() > 1) {
      String kinds = String.join(", ", found.stream().map(Explanation::kind).toList());
      throw HttpProblem.malformed(
          "several have the id " + id + "; the parameter kind must say which: " + kinds);
    }
    return Json.response(shown(found.getFirst()));
  }

  private static ObjectNode shown(Explanation explanation) {
    ObjectNode shown =
        Json.object()
            .put("kind", explanation.kind())
            .put("id", explanation.id())
            .put("status", explanation.status())
            .put("waiting", explanation.waiting());
    shown.set("reasons", Json.array(explanation.reasons(), WhyPart::shown));
    return shown;
  }

  private static ObjectNode shown(Explanation.Reason reason) {
    ObjectNode shown = Json.object().put("code", reason.code()).put("message", reason.message());
    Explanation.Related related = reason.related();
    if (!related.kind().isEmpty()) {
      ObjectNode object = shown.putObject("related").put("kind", related.kind());
      related.ids().forEach(object.putArray("ids")::add);
      object.put("more", related.more());
    }
    return shown;
  }
}
