package io.millrace.wire;

import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.TaskRef;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** The body of a claim request. */
final class ClaimForm {
  private ClaimForm() {}

  static Claim read(JsonInput in, String principal) {
    long client = -1;
    List<String> groups = null;
    Long lease = null;
    int count = 1;
    Claim.Order order = Claim.Order.RANDOM;
    int whileFewerThan = 0;
    long wait = 0;
    List<TaskRef> depends = List.of();
    String requestId = null;
    for (String name = in.object(); name != null; name = in.field()) {
      switch (name) {
        case "clientid" -> client = Scalars.clientId(in);
        case "group", "groups" -> {
          if (groups != null) {
            throw in.wrong("conflicts with an earlier field: give group or groups, not both");
          }
          groups = name.equals("group") ? List.of(in.text()) : in.list(JsonInput::text);
        }
        case "duration" -> lease = in.integer();
        case "count" -> count = (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
        case "order" -> order = Scalars.order(in);
        case "whilefewerthan" ->
            whileFewerThan = (int) in.integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
        case "wait" -> wait = in.integer();
        case "depends" -> depends = in.list(TaskForm::readRef);
        case "requestid" -> requestId = in.text();
        default -> throw in.unknown();
      }
    }
    if (client < 0) {
      throw in.wrong("needs a clientid, a whole number");
    }
    if (lease == null) {
      throw in.wrong("needs a duration, in milliseconds");
    }
    return new Claim(
        new Owner(principal, client),
        groups == null ? List.of() : groups,
        lease,
        count,
        order,
        whileFewerThan,
        wait,
        depends,
        requestId);
  }

  static void write(JsonGenerator json, Claim claim) {
    json.writeStartObject();
    json.writeNumberProperty("clientid", Scalars.clientId(claim.client().client()));
    if (claim.groups().size() == 1) {
      json.writeStringProperty("group", claim.groups().getFirst());
    } else {
      JsonText.list(json, "groups", claim.groups(), JsonGenerator::writeString);
    }
    json.writeNumberProperty("duration", claim.leaseMillis());
    if (claim.count() != 1) {
      json.writeNumberProperty("count", claim.count());
    }
    if (claim.order() != Claim.Order.RANDOM) {
      json.writeStringProperty("order", Scalars.name(claim.order()));
    }
    if (claim.whileFewerThan() != 0) {
      json.writeNumberProperty("whilefewerthan", claim.whileFewerThan());
    }
    if (claim.waitMillis() != 0) {
      json.writeNumberProperty("wait", claim.waitMillis());
    }
    TaskForm.writeRefs(json, "depends", claim.depends());
    if (claim.requestId() != null) {
      json.writeStringProperty("requestid", claim.requestId());
    }
    json.writeEndObject();
  }
}
