package io.millrace.mongo;

import io.millrace.queues.ObjectId;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.work.filter.Condition;
import io.millrace.work.filter.Filter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.bson.Document;
import org.bson.types.Binary;
import org.bson.types.Decimal128;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON as BSON and back, and filters as queries. Ids are {@code {"$oid": …}} in JSON and times
 * {@code {"$date": MILLIS}}.
 */
final class BsonForm {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final Set<String> IDS = Set.of("_id", "queue");
  private static final Set<String> TIMES = Set.of("ctime", "mtime");

  private BsonForm() {}

  static org.bson.types.ObjectId id(ObjectId id) {
    return new org.bson.types.ObjectId(id.hex());
  }

  static ObjectId id(org.bson.types.ObjectId id) {
    return new ObjectId(id.toHexString());
  }

  static List<org.bson.types.ObjectId> ids(Iterable<ObjectId> ids) {
    List<org.bson.types.ObjectId> all = new ArrayList<>();
    ids.forEach(id -> all.add(id(id)));
    return all;
  }

  /** A number that another program may have written as any type; null if it is none. */
  static @Nullable Long number(Document document, String field) {
    return document.get(field) instanceof Number number ? Long.valueOf(number.longValue()) : null;
  }

  static int integer(Document document, String field, int fallback) {
    return document.get(field) instanceof Number number ? number.intValue() : fallback;
  }

  static long millis(@Nullable Object time) {
    return switch (time) {
      case Date date -> date.toInstant().toEpochMilli();
      case Number number -> number.longValue();
      case null, default -> 0;
    };
  }

  static @Nullable String text(Document document, String field) {
    return document.get(field) instanceof String text ? text : null;
  }

  static List<String> texts(Document document, String field) {
    return document.get(field) instanceof List<?> list
        ? list.stream().filter(String.class::isInstance).map(String.class::cast).toList()
        : List.of();
  }

  /**
   * A JSON object as a document.
   *
   * @throws InvalidRequestException if a name in it cannot be stored
   */
  static Document document(ObjectNode json, String what) {
    Document document = new Document();
    for (Map.Entry<String, JsonNode> field : json.properties()) {
      String name = field.getKey();
      if (name.startsWith("$") || name.indexOf('\0') >= 0) {
        throw new InvalidRequestException(
            what, "MongoDB does not keep a field named " + name + " in " + what);
      }
      document.put(name, value(field.getValue(), what));
    }
    return document;
  }

  private static @Nullable Object value(JsonNode value, String what) {
    return switch (value) {
      case ObjectNode object -> {
        Object special = special(object);
        yield special == null ? document(object, what) : special;
      }
      case ArrayNode array -> {
        List<@Nullable Object> list = new ArrayList<>();
        array.forEach(each -> list.add(value(each, what)));
        yield list;
      }
      default -> scalar(value);
    };
  }

  private static @Nullable Object special(ObjectNode object) {
    if (object.size() != 1) {
      return null;
    }
    JsonNode oid = object.get("$oid");
    if (oid != null && oid.isString() && ObjectId.isValid(oid.asString())) {
      return new org.bson.types.ObjectId(oid.asString());
    }
    JsonNode date = object.get("$date");
    return date != null && date.canConvertToLong()
        ? Date.from(Instant.ofEpochMilli(date.asLong()))
        : null;
  }

  private static @Nullable Object scalar(JsonNode value) {
    if (value.isIntegralNumber()) {
      if (value.canConvertToInt()) {
        return value.intValue();
      }
      return value.canConvertToLong() ? (Object) value.longValue() : value.doubleValue();
    }
    return switch (value.getNodeType()) {
      case NUMBER -> value.doubleValue();
      case STRING -> value.asString();
      case BOOLEAN -> value.booleanValue();
      default -> null;
    };
  }

  /** A document as JSON. */
  static ObjectNode json(Document document) {
    ObjectNode json = JSON.objectNode();
    document.forEach((name, value) -> json.set(name, json(value)));
    return json;
  }

  private static JsonNode json(@Nullable Object value) {
    return switch (value) {
      case null -> JSON.nullNode();
      case Document document -> json(document);
      case List<?> list -> {
        ArrayNode array = JSON.arrayNode();
        list.forEach(each -> array.add(json(each)));
        yield array;
      }
      case String text -> JSON.stringNode(text);
      case Integer number -> JSON.numberNode(number);
      case Long number -> JSON.numberNode(number);
      case Double number -> JSON.numberNode(number);
      case Decimal128 number when number.isFinite() -> JSON.numberNode(number.bigDecimalValue());
      case Boolean bool -> JSON.booleanNode(bool);
      case org.bson.types.ObjectId id -> JSON.objectNode().put("$oid", id.toHexString());
      case Date date -> JSON.objectNode().put("$date", date.toInstant().toEpochMilli());
      case Binary binary -> JSON.binaryNode(binary.getData());
      default -> JSON.stringNode(value.toString());
    };
  }

  /**
   * A filter on tasks as a query.
   *
   * @throws InvalidRequestException if it has a condition that MongoDB does not know
   */
  static Document query(Filter filter) {
    return switch (filter) {
      case Filter.Every(List<Filter> parts) -> joined("$and", parts, new Document());
      // Nothing matches none of no parts.
      case Filter.Any(List<Filter> parts) ->
          joined("$or", parts, new Document("_id", new Document("$in", List.of())));
      case Filter.OfField field -> {
        String path = field.path().dotted();
        yield new Document(path, condition(path, field.condition()));
      }
    };
  }

  private static Document joined(String operator, List<Filter> parts, Document none) {
    return parts.isEmpty()
        ? none
        : new Document(operator, parts.stream().map(BsonForm::query).toList());
  }

  private static Document condition(String path, Condition condition) {
    return switch (condition) {
      case Condition.OneOf(List<JsonNode> wanted) -> {
        Set<@Nullable Object> all = new HashSet<>();
        wanted.forEach(each -> all.addAll(operands(path, each)));
        yield new Document("$in", new ArrayList<>(all));
      }
      case Condition.Compared(Condition.Relation relation, JsonNode limit) ->
          new Document(operator(relation), operands(path, limit).getFirst());
      case Condition.Exists(boolean wanted) -> new Document("$exists", wanted);
      case Condition.Not(Condition.Exists(boolean wanted)) -> new Document("$exists", !wanted);
      case Condition.Not(Condition negated) -> new Document("$not", condition(path, negated));
      case Condition.Contains(String text) ->
          new Document("$regex", Pattern.compile(Pattern.quote(text), Pattern.CASE_INSENSITIVE));
    };
  }

  private static String operator(Condition.Relation relation) {
    return switch (relation) {
      case GREATER -> "$gt";
      case AT_LEAST -> "$gte";
      case LESS -> "$lt";
      case AT_MOST -> "$lte";
    };
  }

  /** What a value of a filter can be in a document: a text with the form of an id also the id. */
  private static List<@Nullable Object> operands(String path, JsonNode value) {
    List<@Nullable Object> operands = new ArrayList<>();
    boolean isId = value.isString() && ObjectId.isValid(value.asString());
    if (TIMES.contains(path) && value.isNumber()) {
      operands.add(Date.from(Instant.ofEpochMilli(value.decimalValue().longValue())));
    } else if (isId && IDS.contains(path)) {
      operands.add(new org.bson.types.ObjectId(value.asString()));
    } else {
      operands.add(value(value, "filter"));
      if (isId) {
        operands.add(new org.bson.types.ObjectId(value.asString()));
      }
    }
    return operands;
  }
}
