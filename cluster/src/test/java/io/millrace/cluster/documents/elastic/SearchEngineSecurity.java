package io.millrace.cluster.documents.elastic;

import io.millrace.work.elastic.Credentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Encryption and users of an Elasticsearch. Its certificate is for 127.0.0.1 only.
 *
 * @param config the folder of its settings
 */
record SearchEngineSecurity(Path config) {
  private static final String PASSWORD = "only for this test";

  /** The user with the privileges that members need according to docs/cluster.md. */
  static final String MEMBER = "member";

  /** The user with all privileges. */
  static final String OWNER = "owner";

  /** Creates keys and users. */
  static SearchEngineSecurity make(Path config) throws IOException {
    SearchEngineSecurity security = new SearchEngineSecurity(config);
    security.keytool("-genkeypair -keyalg EC -dname CN=test -ext san=ip:127.0.0.1 -validity 2");
    security.keytool("-exportcert -rfc -file " + security.certificates());
    // A value that is not a hash is the password itself.
    Files.writeString(
        config.resolve("users"), "%s:%s%n%s:%s%n".formatted(MEMBER, PASSWORD, OWNER, PASSWORD));
    Files.writeString(
        config.resolve("users_roles"), "members:%s%nsuperuser:%s%n".formatted(MEMBER, OWNER));
    Files.writeString(
        config.resolve("roles.yml"),
        """
        members:
          indices:
            - names: [millrace-documents]
              privileges: [create_index, view_index_metadata, read, write]
        """);
    return security;
  }

  /** The engine's certificates. */
  Path certificates() {
    return config.resolve("certificates.pem");
  }

  /** The credentials of a user as environment variables. */
  static Map<String, String> environment(String user) {
    return Map.of(Credentials.USER, user, Credentials.PASSWORD, PASSWORD);
  }

  /** The settings of the engine. */
  static String settings() {
    return """
    xpack.security.enabled: true
    xpack.security.autoconfiguration.enabled: false
    xpack.security.enrollment.enabled: false
    xpack.security.http.ssl.enabled: true
    xpack.security.http.ssl.keystore.path: keys.p12
    xpack.security.http.ssl.keystore.password: %s
    """
        .formatted(PASSWORD);
  }

  private void keytool(String arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-alias", "engine", "-storetype", "PKCS12", "-storepass", PASSWORD));
    command.addAll(List.of("-keystore", config.resolve("keys.p12").toString()));
    SearchEngineLaunch.run(command.toArray(String[]::new));
  }
}
