package io.millrace.cli.tasks;

import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.wire.JsonErrors;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.commons.csv.CSVException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reads the params of tasks to submit, one task at a time. */
interface ParamsSource extends Closeable {
  /**
   * The next params, never empty; null at the end.
   *
   * @throws CommandException if the input is malformed; the message contains the line number
   */
  @Nullable ObjectNode next() throws IOException;

  /** Reports a mistake on a line. */
  static CommandException malformed(String name, long line, String what) {
    return new CommandException(ExitCode.USAGE, name + " line " + line + ": " + what);
  }

  /** The params of a single task. */
  static ParamsSource of(ObjectNode params) {
    return new ParamsSource() {
      private @Nullable ObjectNode left = params;

      @Override
      public @Nullable ObjectNode next() {
        ObjectNode next = left;
        left = null;
        return next;
      }

      @Override
      public void close() {
        left = null;
      }
    };
  }

  /** Params from JSON: an array of objects, or a sequence of objects, for example one per line. */
  static final class JsonParams implements ParamsSource {
    private static final JsonMapper JSON =
        JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private final String name;
    private final JsonParser parser;
    private boolean begun;
    private boolean inArray;

    /**
     * From a stream, which {@link #close()} closes.
     *
     * @param name the name of the stream in messages
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
        throw ParamsSource.malformed(name, line, JsonErrors.withoutLocation(e));
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

  /**
   * Params from CSV (RFC 4180) in UTF-8: the first line names the params, every other line is a
   * task, and all values are text. Empty lines are skipped.
   */
  static final class CsvParams implements ParamsSource {
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final String name;
    private final CSVParser parser;
    private final Iterator<CSVRecord> records;
    private final List<String> keys;

    /**
     * From a stream, which {@link #close()} closes.
     *
     * @param name the name of the stream in messages
     * @throws CommandException if the header is missing, has an empty name or has a name twice
     */
    CsvParams(String name, InputStream in, char separator) throws IOException {
      this.name = name;
      CSVFormat format =
          CSVFormat.RFC4180.builder().setDelimiter(separator).setIgnoreEmptyLines(true).get();
      var text = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder()));
      try {
        skipMark(text);
      } catch (CharacterCodingException e) {
        throw failed(1, e);
      }
      parser = CSVParser.builder().setReader(text).setFormat(format).get();
      records = parser.iterator();
      keys = header();
    }

    private static void skipMark(BufferedReader text) throws IOException {
      text.mark(1);
      if (text.read() != BYTE_ORDER_MARK) {
        text.reset();
      }
    }

    private List<String> header() throws IOException {
      CSVRecord first = record(1);
      if (first == null) {
        throw ParamsSource.malformed(name, 1, "there is no header");
      }
      Set<String> unique = new LinkedHashSet<>();
      for (String key : first) {
        if (key.isBlank()) {
          throw ParamsSource.malformed(name, 1, "the header has an empty name");
        }
        if (!unique.add(key.strip())) {
          throw ParamsSource.malformed(name, 1, "the header names '" + key.strip() + "' twice");
        }
      }
      return List.copyOf(unique);
    }

    @Override
    public @Nullable ObjectNode next() throws IOException {
      long line = parser.getCurrentLineNumber() + 1;
      CSVRecord values = record(line);
      if (values == null) {
        return null;
      }
      if (values.size() != keys.size()) {
        throw ParamsSource.malformed(
            name,
            line,
            "%d values for the %d names of the header".formatted(values.size(), keys.size()));
      }
      ObjectNode params = ServerCommand.object();
      for (int i = 0; i < values.size(); i++) {
        params.put(keys.get(i), values.get(i));
      }
      return params;
    }

    private @Nullable CSVRecord record(long line) throws IOException {
      try {
        return records.hasNext() ? records.next() : null;
      } catch (UncheckedIOException e) {
        IOException cause = e.getCause();
        throw failed(line, cause == null ? new IOException(e) : cause);
      }
    }

    private CommandException failed(long line, IOException failure) throws IOException {
      return switch (failure) {
        case CSVException malformed ->
            ParamsSource.malformed(name, line, String.valueOf(malformed.getMessage()));
        case CharacterCodingException _ ->
            ParamsSource.malformed(
                name, line, "the text at or shortly after this line is not UTF-8");
        default -> throw failure;
      };
    }

    @Override
    public void close() throws IOException {
      parser.close();
    }
  }
}
