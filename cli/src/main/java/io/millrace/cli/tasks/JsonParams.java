package io.millrace.cli.tasks;

import io.millrace.cli.terminal.CommandException;
import io.millrace.wire.JsonMistake;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Params from JSON: an array of objects, or objects one after the other, as on lines. */
final class JsonParams implements ParamsSource {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private final String name;
  private final JsonParser parser;
  private boolean begun;
  private boolean inArray;

  /**
   * From a stream, which {@link #close()} closes.
   *
   * @param name how the stream is called in messages
   */
  JsonParams(String name, InputStream in) {
    this.name = name;
    parser = JSON.createParser(in);
  }

  @Override
  public @Nullable ObjectNode next() {
    try {
      JsonToken token = parser.nextToken();
      if (!begun && token == JsonToken.START_ARRAY) {
        inArray = true;
        token = parser.nextToken();
      }
      begun = true;
      if (inArray && token == JsonToken.END_ARRAY) {
        if (parser.nextToken() != null) {
          throw malformed("something follows the array");
        }
        return null;
      }
      return token == null ? null : read(token);
    } catch (JacksonException e) {
      long line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw ParamsSource.malformed(name, line, JsonMistake.withoutPlace(e));
    } catch (NumberFormatException _) {
      throw malformed("a number is too large");
    }
  }

  private ObjectNode read(JsonToken token) {
    if (token != JsonToken.START_OBJECT) {
      throw malformed("params are a JSON object, not " + parser.getString());
    }
    long line = parser.currentTokenLocation().getLineNr();
    JsonNode node = parser.readValueAsTree();
    if (node instanceof ObjectNode params && !params.isEmpty()) {
      return params;
    }
    throw ParamsSource.malformed(name, line, "the params are empty");
  }

  private CommandException malformed(String what) {
    return ParamsSource.malformed(name, parser.currentTokenLocation().getLineNr(), what);
  }

  @Override
  public void close() {
    parser.close();
  }
}
