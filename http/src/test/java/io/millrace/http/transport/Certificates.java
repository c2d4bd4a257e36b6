package io.millrace.http.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Keys and self-signed certificates of servers at 127.0.0.1. */
public final class Certificates {
  private static final String PASSWORD = "only for this test";

  /** It ends too soon for code that is compiled well. */
  private static final List<String> QUICKLY =
      List.of("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-J-XX:CompileThresholdScaling=4");

  private static final String CIPHER = "PBEWithHmacSHA256AndAES_256";

  private final Path folder;

  /** In an empty folder. */
  public Certificates(Path folder) {
    this.folder = folder;
  }

  /** Creates a key and its certificate, and returns the file of the certificate. */
  public Path make(String name) throws IOException, InterruptedException {
    return make(name, "EC", "-validity 20");
  }

  /**
   * The same with a key of another kind.
   *
   * @param options more options of keytool, separated by spaces
   */
  public Path make(String name, String algorithm, String options)
      throws IOException, InterruptedException {
    Path file = folder.resolve(name + ".pem");
    Files.deleteIfExists(keys(name));
    keytool(
        name,
        "-genkeypair -keyalg " + algorithm + " -dname CN=test -ext san=ip:127.0.0.1 " + options);
    keytool(name, "-exportcert -rfc -file " + file);
    return file;
  }

  /** Creates a key and its certificate, signed by one that was made with {@code -ext bc:c}. */
  public Path makeSigned(String name, String authority) throws IOException, InterruptedException {
    Path file = make(name);
    Path request = folder.resolve(name + ".request");
    keytool(name, "-certreq -file " + request);
    keytool(
        authority, "-gencert -rfc -ext san=ip:127.0.0.1 -infile " + request + " -outfile " + file);
    return file;
  }

  /** Writes the key of a certificate into a PEM file. */
  public Path key(String name) throws IOException, GeneralSecurityException {
    return pem(name, "PRIVATE KEY", encoded(name));
  }

  /** The same, encrypted with a password. */
  public Path key(String name, String password) throws IOException, GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(
        Cipher.ENCRYPT_MODE,
        SecretKeyFactory.getInstance(CIPHER)
            .generateSecret(new PBEKeySpec(password.toCharArray())));
    byte[] content = cipher.doFinal(encoded(name));
    AlgorithmParameters parameters = AlgorithmParameters.getInstance("PBES2");
    parameters.init(cipher.getParameters().getEncoded());
    return pem(
        name,
        "ENCRYPTED PRIVATE KEY",
        new EncryptedPrivateKeyInfo(parameters, content).getEncoded());
  }

  private Path pem(String name, String kind, byte[] content) throws IOException {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return Files.writeString(
        folder.resolve(name + ".key"),
        "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, lines, kind),
        StandardCharsets.US_ASCII);
  }

  private byte[] encoded(String name) throws IOException, GeneralSecurityException {
    return open(name).getKey(name, PASSWORD.toCharArray()).getEncoded();
  }

  private KeyStore open(String name) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keys(name))) {
      keys.load(file, PASSWORD.toCharArray());
    }
    return keys;
  }

  private Path keys(String name) {
    return folder.resolve(name + ".p12");
  }

  private void keytool(String name, String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(QUICKLY);
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-alias", name, "-storetype", "PKCS12", "-storepass", PASSWORD));
    command.addAll(List.of("-keystore", keys(name).toString()));
    Path log = folder.resolve("keytool.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) {
      throw new AssertionError(Files.readString(log));
    }
  }

  /** The TLS context of a client that trusts a certificate, and no other. */
  public static SSLContext trusting(Path certificate) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream file = Files.newInputStream(certificate)) {
      trusted.setCertificateEntry(
          "trusted", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  /** The TLS context of a server with that key. */
  public SSLContext server(String name) throws IOException, GeneralSecurityException {
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(open(name), PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** One certificate with its key that all tests of a process may use. */
  public static final class Shared {
    private static final String CERTIFICATE;
    private static final String KEY;

    static {
      try {
        Path folder = Files.createTempDirectory("certificates");
        Certificates made = new Certificates(folder);
        CERTIFICATE = Files.readString(made.make("shared"));
        KEY = Files.readString(made.key("shared"));
        try (var files = Files.list(folder)) {
          for (Path each : files.toList()) {
            Files.delete(each);
          }
        }
        Files.delete(folder);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (GeneralSecurityException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private Shared() {}

    /** Writes both into a folder. */
    public static ServerCertificate.Source in(Path folder) {
      try {
        Files.createDirectories(folder);
        return new ServerCertificate.Source(
            Files.writeString(folder.resolve("shared.pem"), CERTIFICATE),
            Files.writeString(folder.resolve("shared.key"), KEY),
            null);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
