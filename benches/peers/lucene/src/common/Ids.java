import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.PostingsFormat;
import org.apache.lucene.codecs.bloom.BloomFilterFactory;
import org.apache.lucene.codecs.bloom.BloomFilteringPostingsFormat;
import org.apache.lucene.codecs.bloom.DefaultBloomFilterFactory;
import org.apache.lucene.codecs.bloom.FuzzySet;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.SegmentWriteState;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Primary-key lookup over many segments, as in Elasticsearch's PerThreadIDVersionAndSeqNoLookup: a TermsEnum for
 * each segment, newest segment first, then the document.
 */
final class Ids {
  private static final String ID = "_id";

  private Ids() {}

  /** Writes a variant of an index with as many segments, unless it exists: plain, bloom, bloom-13, or 27 (see id). */
  static void build(Path folder, String kind, int segments, int each, String variant) throws IOException {
    if (Files.exists(folder)) {
      return;
    }
    IndexWriterConfig config = new IndexWriterConfig();
    config.setMergePolicy(NoMergePolicy.INSTANCE);
    config.setUseCompoundFile(false);
    config.setRAMBufferSizeMB(512);
    if (variant.startsWith("bloom")) {
      BloomFilterFactory factory = variant.equals("bloom") ? new DefaultBloomFilterFactory() : new LargeFilters();
      config.setCodec(withBloom(Codec.getDefault(), factory));
    }
    Path making = folder.resolveSibling(folder.getFileName() + ".tmp");
    try (IndexWriter writer = new IndexWriter(new MMapDirectory(making), config)) {
      for (int segment = 0; segment < segments; segment++) {
        for (int i = segment * each; i < (segment + 1) * each; i++) {
          Document document = new Document();
          document.add(new StringField(ID, id(kind, i, variant), Field.Store.NO));
          document.add(new NumericDocValuesField("_version", i));
          writer.addDocument(document);
        }
        writer.flush();
      }
    }
    Files.move(making, folder);
  }

  /** Filters of 13 bits an id, as their sizes are powers of two, and nine hashes: the default has 6.5 and five. */
  private static final class LargeFilters extends BloomFilterFactory {
    @Override
    public FuzzySet getSetForField(SegmentWriteState state, FieldInfo field) {
      return Version.filter(state.segmentInfo.maxDoc(), 0.01f);
    }

    @Override
    public boolean isSaturated(FuzzySet filter, FieldInfo field) {
      return filter.getSaturation() > 0.9f;
    }
  }

  /** A codec with a Bloom filter on the ids, under its own name: readers find the filter by themselves. */
  static Codec withBloom(Codec codec, BloomFilterFactory factory) {
    PostingsFormat plain = ((PerFieldPostingsFormat) codec.postingsFormat()).getPostingsFormatForField(ID);
    PostingsFormat filtering = new BloomFilteringPostingsFormat(plain, factory);
    PostingsFormat format =
        new PerFieldPostingsFormat() {
          @Override
          public PostingsFormat getPostingsFormatForField(String field) {
            return field.equals(ID) ? filtering : plain;
          }
        };
    return new FilterCodec(codec.getName(), codec) {
      @Override
      public PostingsFormat postingsFormat() {
        return format;
      }
    };
  }

  /** The state of one thread. */
  static final class Lookup {
    private final TermsEnum[] terms;
    private final LeafReader[] leaves;
    private PostingsEnum postings;

    Lookup(List<LeafReaderContext> contexts) throws IOException {
      terms = new TermsEnum[contexts.size()];
      leaves = new LeafReader[contexts.size()];
      for (int i = 0; i < terms.length; i++) {
        leaves[i] = contexts.get(i).reader();
        terms[i] = leaves[i].terms(ID).iterator();
      }
    }

    /** The segment of the newest document with this id in the upper half, and the document in the lower; or -1. */
    long place(BytesRef id) throws IOException {
      for (int i = terms.length - 1; i >= 0; i--) {
        if (!terms[i].seekExact(id)) {
          continue;
        }
        postings = terms[i].postings(postings, PostingsEnum.NONE);
        int doc = postings.nextDoc();
        if (doc != DocIdSetIterator.NO_MORE_DOCS) {
          return (long) i << 32 | doc;
        }
      }
      return -1;
    }
  }

  // The ids of benches/src/ids.rs.

  static final long GAMMA = 0x9e3779b97f4a7c15L;

  static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Numbers below this, in random order: each once before any repeats. */
  static void random(int below, int[] numbers) {
    int bits = Math.max(2, 32 - Integer.numberOfLeadingZeros(below - 1));
    long all = (1L << bits) - 1;
    int filled = 0;
    for (long i = 0; filled < numbers.length; i = i + 1 & all) {
      long x = i;
      for (long odd : new long[] {0x9e3779b1L, 0x85ebca6bL, 0xc2b2ae35L}) {
        x = x * odd & all;
        x ^= x >>> (bits / 2);
      }
      if (x < below) {
        numbers[filled++] = (int) x;
      }
    }
  }

  /** The id in a variant of an index. 27 are the bytes of a UUID in Elasticsearch and OpenSearch, by Uid.encodeId. */
  static BytesRef id(String kind, int i, String variant) {
    BytesRef id = id(kind, i);
    boolean isShort = variant.equals("27") && kind.equals("uuid");
    return isShort ? new BytesRef(java.util.Base64.getUrlDecoder().decode(id.utf8ToString())) : id;
  }

  static BytesRef id(String kind, int i) {
    switch (kind) {
      case "uuid":
        {
          long high = mix((2L * i + 1) * GAMMA) & ~0xf000L | 0x4000L;
          long low = mix((2L * i + 2) * GAMMA) & 0x3fffffffffffffffL | 0x8000000000000000L;
          return new BytesRef(new java.util.UUID(high, low).toString());
        }
      case "auto":
        return new BytesRef(auto(i));
      case "seq":
        return new BytesRef(String.format(Locale.ROOT, "doc-%010d", i));
      case "tenant":
        return new BytesRef(String.format(Locale.ROOT, "tenant-%03d-%010d", (i * 0x9e3779b1 >>> 16) * 500 >>> 16, i));
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  /** The byte order of Elasticsearch's TimeBasedUUIDGenerator; 5,000 documents a second, one node. */
  private static byte[] auto(int i) {
    byte[] id = new byte[15];
    int sequence = 4_321 + i;
    long time = 1_700_000_000_000L + i / 5;
    id[0] = (byte) sequence;
    id[1] = (byte) (sequence >>> 16);
    id[2] = (byte) (time >>> 16);
    id[3] = (byte) (time >>> 24);
    id[4] = (byte) (time >>> 32);
    id[5] = (byte) (time >>> 40);
    byte[] node = {(byte) 0x8d, 0x1f, 0x42, (byte) 0xa7, 0x33, 0x5c};
    System.arraycopy(node, 0, id, 6, 6);
    id[12] = (byte) (time >>> 8);
    id[13] = (byte) (sequence >>> 8);
    id[14] = (byte) time;
    byte[] text = java.util.Base64.getUrlEncoder().withoutPadding().encode(id);
    return new String(text, StandardCharsets.US_ASCII).getBytes(StandardCharsets.US_ASCII);
  }
}
