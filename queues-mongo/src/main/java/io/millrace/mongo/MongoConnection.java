package io.millrace.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.DuplicateKeyException;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import io.millrace.queues.QueuesException.UnreachableException;
import io.millrace.work.TrustedCertificates;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A connection to the database: reads from the primary, writes acknowledged by a majority. Safe for
 * use by any number of threads.
 */
final class MongoConnection implements AutoCloseable {
  /** How long a call waits for a server that can be written to. */
  private static final long SELECTION_SECONDS = 5;

  private final MongoClient client;
  private final MongoDatabase database;

  private MongoConnection(MongoClient client, MongoDatabase database) {
    this.client = client;
    this.database = database;
  }

  /** Prepares a connection, whether the servers can be reached or not. */
  static MongoConnection open(MongoAddress address, MongoRole role) {
    ConnectionString parsed = address.parsed();
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyToClusterSettings(
                cluster -> cluster.serverSelectionTimeout(SELECTION_SECONDS, TimeUnit.SECONDS))
            .applyToSocketSettings(socket ->
                socket.connectTimeout(5, TimeUnit.SECONDS).readTimeout(30, TimeUnit.SECONDS))
            .applyConnectionString(parsed)
            .applicationName("millrace")
            .readPreference(ReadPreference.primary())
            .writeConcern(WriteConcern.MAJORITY);
    MongoCredential credential = address.credential(role);
    if (credential != null) {
      settings.credential(credential);
    }
    if (address.certificates() != null) {
      settings.applyToSslSettings(
          tls -> tls.enabled(true).context(TrustedCertificates.context(address.certificates())));
    }
    MongoClient client = MongoClients.create(settings.build());
    return new MongoConnection(client, client.getDatabase(address.database()));
  }

  MongoCollection<Document> collection(String name) {
    return database.getCollection(name);
  }

  /**
   * Calls the database.
   *
   * @throws UnreachableException if it cannot be reached or refuses the call; the outcome of a
   *     change is not known then
   */
  <T> T call(Supplier<T> operation) {
    try {
      return operation.get();
    } catch (MongoException e) {
      throw failed(e);
    }
  }

  /** What a call throws that has failed. */
  static UnreachableException failed(MongoException cause) {
    return new UnreachableException("MongoDB: " + cause.getMessage(), cause);
  }

  /** What a server says that refuses a command; other failures are thrown. */
  static String refusal(UnreachableException failure) {
    return switch (failure.getCause()) {
      case MongoCommandException refused -> refused.getErrorMessage();
      case DuplicateKeyException twice -> String.valueOf(twice.getMessage());
      case null, default -> throw failure;
    };
  }

  /** For people: what is known of the servers, as in {@code replica set}. */
  String servers() {
    return client
        .getClusterDescription()
        .getType()
        .name()
        .toLowerCase(Locale.ROOT)
        .replace('_', ' ');
  }

  /** Carries out a command, on the primary. */
  Document run(Document command) {
    return database.runCommand(command, ReadPreference.primary());
  }

  @Override
  public void close() {
    client.close();
  }

  /**
   * Who of us uses the database. The names are those of the original's configuration, where each
   * has credentials of its own. {@code plugin}, the fourth there, is for plugins, which connect by
   * themselves.
   */
  enum MongoRole {
    /** An execution node: {@code disbatchd}. */
    DISBATCHD,
    /** The command interface: {@code disbatch_web}. */
    DISBATCH_WEB,
    /** A task runner: {@code task_runner}. */
    TASK_RUNNER;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Where the database is, and with which credentials.
   *
   * @param url {@code mongodb://HOST[:PORT][,…]/DATABASE[?OPTIONS]} or {@code mongodb+srv://…},
   *     without a password
   * @param credentials a JSON file with an object for each role, {@code disbatchd}, {@code
   *     disbatch_web}, {@code task_runner} and, for plugins that use the database, {@code plugin},
   *     each with {@code username} and {@code password}; null for none
   * @param certificates a PEM file with the certificates to trust over TLS, which it turns on; null
   *     for those of the Java runtime, if the options of the url turn TLS on
   */
  record MongoAddress(String url, @Nullable Path credentials, @Nullable Path certificates) {
    private static final JsonMapper JSON = new JsonMapper();

    /** The driver passes over this option of an address without a user. */
    private static final Pattern AUTH_SOURCE = Pattern.compile("(?i)[?&]authSource=([^&]+)");

    /**
     * Checks the form.
     *
     * @throws IllegalArgumentException if the url is none of a database, or has a password
     */
    MongoAddress {
      ConnectionString parsed = parse(url);
      if (parsed.getDatabase() == null) {
        throw new IllegalArgumentException(
            "the address has no database: mongodb://HOST/DATABASE is wanted");
      }
      if (parsed.getPassword() != null) {
        throw new IllegalArgumentException(
            "the address has a password, which other users of this machine could see: put it into"
                + " a file (--queues-auth)");
      }
    }

    private static ConnectionString parse(String url) {
      try {
        return new ConnectionString(url);
      } catch (IllegalArgumentException | MongoException e) {
        throw new IllegalArgumentException(
            "not an address of a MongoDB database: " + e.getMessage(), e);
      }
    }

    ConnectionString parsed() {
      return parse(url);
    }

    String database() {
      String name = parsed().getDatabase();
      return name == null ? "disbatch" : name;
    }

    /**
     * The credentials of a role; null if there is no file.
     *
     * @throws IllegalArgumentException if the file cannot be read or does not have them
     */
    @Nullable MongoCredential credential(MongoRole role) {
      if (credentials == null) {
        return null;
      }
      JsonNode all;
      try {
        all = JSON.readTree(Files.readAllBytes(credentials));
      } catch (IOException | JacksonException e) {
        throw new IllegalArgumentException(
            credentials + " cannot be read as JSON: " + e.getMessage(), e);
      }
      JsonNode own = all.path(role.word());
      if (!own.path("username").isString() || !own.path("password").isString()) {
        throw new IllegalArgumentException(
            "%s has no %s with username and password".formatted(credentials, role.word()));
      }
      return MongoCredential.createCredential(
          own.path("username").asString(),
          authSource(),
          own.path("password").asString().toCharArray());
    }

    /** The database that knows the users: the option of the url, which may have no user. */
    private String authSource() {
      Matcher option = AUTH_SOURCE.matcher(url);
      return option.find()
          ? URLDecoder.decode(option.group(1), StandardCharsets.UTF_8)
          : database();
    }

    /** The arguments of a runner's command line that say this. */
    List<String> arguments() {
      List<String> arguments = new ArrayList<>(List.of("--queues", url));
      if (credentials != null) {
        arguments.addAll(List.of("--queues-auth", credentials.toAbsolutePath().toString()));
      }
      if (certificates != null) {
        arguments.addAll(List.of("--queues-ca", certificates.toAbsolutePath().toString()));
      }
      return arguments;
    }

    /** The variables of a plugin's environment that say this. */
    Map<String, String> environment() {
      Map<String, String> variables = new HashMap<>(Map.of("MILLRACE_MONGODB_URL", url));
      if (credentials != null) {
        variables.put("MILLRACE_MONGODB_AUTH", credentials.toAbsolutePath().toString());
      }
      if (certificates != null) {
        variables.put("MILLRACE_MONGODB_CA", certificates.toAbsolutePath().toString());
      }
      return variables;
    }
  }
}
