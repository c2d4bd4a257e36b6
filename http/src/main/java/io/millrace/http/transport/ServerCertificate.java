package io.millrace.http.transport;

import io.millrace.http.message.HttpException;
import io.millrace.store.environment.FileProblem;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate and the key of a server, from PEM files. Before a new connection, at most once a
 * second, it looks whether the files have changed, and reads them again if so. If the new files
 * cannot be used, the old certificate stays, and the log has a warning. Connections that are open
 * keep theirs. Thread-safe.
 */
public final class ServerCertificate {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCertificate.class);

  /** How long before its end a certificate is warned about. */
  private static final Duration SOON = Duration.ofDays(14);

  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
  private static final String[] APPLICATION_PROTOCOLS = {"http/1.1"};

  /**
   * Where certificate and key are.
   *
   * @param certificate the certificate of the server, followed by those of the authorities between
   *     it and the root
   * @param key the private key, PKCS #8, RSA, EC or EdDSA
   * @param keyPassword a file with the password of an encrypted key; null if it is not encrypted
   */
  public record Source(Path certificate, Path key, @Nullable Path keyPassword) {
    private List<Path> files() {
      List<Path> files = new ArrayList<>(List.of(certificate, key));
      if (keyPassword != null) {
        files.add(keyPassword);
      }
      return files;
    }
  }

  private record Loaded(SSLContext context, Instant expires) {}

  private final Source source;
  private final InstantSource clock;
  private volatile Loaded loaded;

  /** What the files looked like when they were last read. Guarded by this. */
  private String seen;

  /** When the files were last looked at, by {@link System#nanoTime}. Guarded by this. */
  private long checkedNanos;

  private ServerCertificate(Source source, InstantSource clock, String seen, Loaded loaded) {
    this.source = source;
    this.clock = clock;
    this.seen = seen;
    this.loaded = loaded;
    this.checkedNanos = System.nanoTime();
  }

  /**
   * Reads certificate and key.
   *
   * @throws HttpException if they cannot be read, or do not belong together
   */
  public static ServerCertificate read(Source source, InstantSource clock) {
    String seen = look(source);
    return new ServerCertificate(source, clock, seen, load(source, clock));
  }

  /** When the certificate ends. */
  public Instant expires() {
    return loaded.expires();
  }

  /** The encryption of a new connection. */
  public SSLEngine engine() {
    refresh();
    SSLEngine engine = loaded.context().createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS);
    parameters.setApplicationProtocols(APPLICATION_PROTOCOLS);
    parameters.setUseCipherSuitesOrder(true);
    engine.setSSLParameters(parameters);
    return engine;
  }

  private synchronized void refresh() {
    long now = System.nanoTime();
    if (now - checkedNanos < CHECK_NANOS) {
      return;
    }
    checkedNanos = now;
    String found = look(source);
    if (found.equals(seen)) {
      return;
    }
    seen = found;
    try {
      loaded = load(source, clock);
      LOG.info(
          "the certificate {} has changed; new connections use it, until {}",
          source.certificate(),
          loaded.expires());
    } catch (HttpException e) {
      LOG.warn("the certificate has changed, but the old one is kept: {}", e.getMessage());
    }
  }

  /** What tells a file that was changed or replaced. */
  private static String look(Source source) {
    StringBuilder seen = new StringBuilder();
    for (Path file : source.files()) {
      try {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        seen.append(found.lastModifiedTime()).append(' ').append(found.size()).append(' ');
        seen.append(found.fileKey()).append('\n');
      } catch (IOException e) {
        seen.append(e).append('\n');
      }
    }
    return seen.toString();
  }

  private static Loaded load(Source source, InstantSource clock) {
    List<X509Certificate> chain = chain(source.certificate());
    X509Certificate own = chain.getFirst();
    PrivateKey key = key(source, own.getPublicKey());
    if (!belong(key, own.getPublicKey())) {
      throw new HttpException(
          "the key %s is not that of the certificate %s"
              .formatted(source.key(), source.certificate()));
    }
    Instant expires = own.getNotAfter().toInstant();
    Instant now = clock.instant();
    if (expires.isBefore(now)) {
      LOG.warn("the certificate {} has expired: {}", source.certificate(), expires);
    } else if (expires.isBefore(now.plus(SOON))) {
      LOG.warn("the certificate {} expires soon: {}", source.certificate(), expires);
    } else if (own.getNotBefore().toInstant().isAfter(now)) {
      LOG.warn(
          "the certificate {} is not valid before {}",
          source.certificate(),
          own.getNotBefore().toInstant());
    }
    try {
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(null, null);
      char[] password = "only in memory".toCharArray();
      keys.setKeyEntry("server", key, password, chain.toArray(Certificate[]::new));
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(keys, password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, null);
      return new Loaded(context, expires);
    } catch (IOException | GeneralSecurityException e) {
      throw new HttpException(
          "cannot use the certificate " + source.certificate() + ": " + FileProblem.reason(e), e);
    }
  }

  private static List<X509Certificate> chain(Path file) {
    List<X509Certificate> chain = new ArrayList<>();
    try {
      for (Certificate each :
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)))) {
        chain.add((X509Certificate) each);
      }
    } catch (IOException | GeneralSecurityException e) {
      throw new HttpException(
          "cannot read the certificate " + file + ": " + FileProblem.reason(e), e);
    }
    if (chain.isEmpty()) {
      throw new HttpException("there is no certificate in " + file);
    }
    return chain;
  }

  private static PrivateKey key(Source source, PublicKey certified) {
    Path file = source.key();
    PemBlock block = PemBlock.readKey(file);
    try {
      PKCS8EncodedKeySpec spec =
          block.isEncrypted() ? decrypt(block, source) : new PKCS8EncodedKeySpec(block.content());
      return KeyFactory.getInstance(certified.getAlgorithm()).generatePrivate(spec);
    } catch (IOException | GeneralSecurityException e) {
      throw new HttpException(
          "cannot read the key %s, which should be an %s key%s: %s"
              .formatted(
                  file,
                  certified.getAlgorithm(),
                  block.isEncrypted() ? " with the password in " + source.keyPassword() : "",
                  e.getMessage()),
          e);
    }
  }

  private static PKCS8EncodedKeySpec decrypt(PemBlock block, Source source)
      throws IOException, GeneralSecurityException {
    Path file = source.keyPassword();
    if (file == null) {
      throw new HttpException(
          "the key " + source.key() + " is encrypted, so it needs server.tls.key-password-file");
    }
    EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(block.content());
    // For PBES2 the name of the algorithm says nothing; its parameters are named after the ciphers.
    String algorithm =
        info.getAlgParameters() == null ? info.getAlgName() : info.getAlgParameters().toString();
    char[] password = Files.readString(file, StandardCharsets.UTF_8).strip().toCharArray();
    Cipher cipher = Cipher.getInstance(algorithm);
    cipher.init(
        Cipher.DECRYPT_MODE,
        SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password)),
        info.getAlgParameters());
    return info.getKeySpec(cipher);
  }

  /** Whether a text that is signed with the one is verified with the other. */
  private static boolean belong(PrivateKey key, PublicKey certified) {
    String algorithm =
        switch (certified.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> certified.getAlgorithm();
        };
    try {
      Signature signature = Signature.getInstance(algorithm);
      byte[] text = "millrace".getBytes(StandardCharsets.US_ASCII);
      signature.initSign(key);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(certified);
      signature.update(text);
      return signature.verify(signed);
    } catch (GeneralSecurityException _) {
      return false;
    }
  }

  /** The private key in a PEM file (RFC 7468). */
  private static final class PemBlock {
    private static final Pattern KEY =
        Pattern.compile(
            "-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

    private final boolean encrypted;
    private final byte[] content;

    private PemBlock(boolean encrypted, byte[] content) {
      this.encrypted = encrypted;
      this.content = content;
    }

    static PemBlock readKey(Path file) {
      String text;
      try {
        text = Files.readString(file, StandardCharsets.ISO_8859_1);
      } catch (IOException e) {
        throw new HttpException("cannot read the key " + file + ": " + FileProblem.reason(e), e);
      }
      Matcher block = KEY.matcher(text);
      if (!block.find()) {
        throw new HttpException(
            "there is no private key in " + file + "; it should be a PEM file with PKCS #8");
      }
      byte[] content;
      try {
        content = Base64.getMimeDecoder().decode(block.group(2));
      } catch (IllegalArgumentException e) {
        throw new HttpException("the key " + file + " is not valid base64", e);
      }
      return switch (block.group(1)) {
        case "PRIVATE KEY" -> new PemBlock(false, content);
        case "ENCRYPTED PRIVATE KEY" -> new PemBlock(true, content);
        default ->
            throw new HttpException(
                "the key %s is of the kind %s; convert it to PKCS #8 with openssl pkcs8 -topk8"
                        .formatted(file, block.group(1))
                    + " -nocrypt");
      };
    }

    boolean isEncrypted() {
      return encrypted;
    }

    byte[] content() {
      return content;
    }
  }
}
