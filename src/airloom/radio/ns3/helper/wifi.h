// 802.11 between equals (ad hoc), or with a base station that all others talk through (infrastructure).

#pragma once

#include "link.h"

#include "ns3/wifi-module.h"

class WifiLink : public Link
{
  public:
    WifiLink(const Setup& setup, Heard heard) : Link(setup, std::move(heard)), m_base(setup.Number("base"))
    {
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(setup.Get("queue") + "p"));
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", StringValue(setup.Get("lifetime")));
        LimitAttempts(StringValue(setup.Get("attempts")));
        auto channel = CreateObject<YansWifiChannel>();
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        channel->SetPropagationLossModel(losses);
        m_phy.SetChannel(channel);
        m_phy.Set("TxPowerStart", StringValue(setup.Get("power")));
        m_phy.Set("TxPowerEnd", StringValue(setup.Get("power")));
        m_phy.SetPcapDataLinkType(WifiPhyHelper::DLT_IEEE802_11_RADIO);
        m_wifi.SetStandard(Standard(setup.Get("standard")));
        Manage(m_wifi, setup.Get("manager"));
        EquipAll(setup);
    }

    std::string Facts() const override
    {
        auto phy = Phy(0);
        auto txop = Contender(0);
        std::ostringstream facts;
        facts << "slot_us " << phy->GetSlot().GetNanoSeconds() * 1e-3 << "\n"
              << "sifs_us " << phy->GetSifs().GetNanoSeconds() * 1e-3 << "\n"
              << "aifsn " << +txop->GetAifsn() << "\n"
              << "cw_min " << txop->GetMinCw() << "\n"
              << "cw_max " << txop->GetMaxCw() << "\n"
              << "queue_packets " << txop->GetWifiMacQueue()->GetMaxSize().GetValue() << "\n"
              << "queue_delay_s " << txop->GetWifiMacQueue()->GetMaxDelay().GetSeconds() << "\n"
              << "frequency_mhz " << phy->GetFrequency() << "\n"
              << "width_mhz " << phy->GetChannelWidth() << "\n"
              << "tx_power_dbm " << phy->GetTxPowerStart() << "\n"
              << "sensitivity_dbm " << phy->GetRxSensitivity() << "\n"
              << "energy_threshold_dbm " << phy->GetCcaEdThreshold() << "\n"
              << "short_preamble " << phy->GetShortPhyPreambleSupported() << "\n"
              << "longest " << Device(0)->GetMtu() << "\n";
        return facts.str();
    }

  private:
    static constexpr double NOISE_FIGURE = 7; // dB, ns-3's
    static constexpr double NOISE = -93.966;  // dBm: k 290 K 20 MHz, and this

    Ptr<WifiNetDevice> Device(uint32_t node) const
    {
        return StaticCast<WifiNetDevice>(devices.Get(node));
    }

    Ptr<WifiPhy> Phy(uint32_t node) const
    {
        return Device(node)->GetPhy();
    }

    // What holds the queue and contends for the medium.
    Ptr<Txop> Contender(uint32_t node) const
    {
        auto mac = Device(node)->GetMac();
        return mac->GetQosSupported() ? StaticCast<Txop>(mac->GetQosTxop(AC_BE)) : mac->GetTxop();
    }

    void Equip(uint32_t node, const std::string& name) override
    {
        WifiMacHelper mac;
        if (m_base < 0)
        {
            mac.SetType("ns3::AdhocWifiMac");
        }
        else
        {
            mac.SetType(int(node) == m_base ? "ns3::ApWifiMac" : "ns3::StaWifiMac",
                        "Ssid",
                        SsidValue(Ssid("airloom")));
        }
        devices.Add(m_wifi.Install(m_phy, mac, nodes.Get(node)));
        m_strengths.push_back(0);
        m_noise.push_back(NOISE);
        WatchMac(node, counts[node]);
        WatchPhy(node, counts[node]);
        Listen(node);
        if (!pcap.empty())
        {
            m_phy.EnablePcap(pcap + name + ".pcap", devices.Get(node), true, true);
        }
    }

    // ns-3 knows noise as what a receiver adds to that of warm matter. It does not make the medium busy.
    void Jam(uint32_t node, double watts) override
    {
        double warm = DbmToW(NOISE - NOISE_FIGURE);
        m_noise[node] = WToDbm(DbmToW(NOISE) + watts);
        Phy(node)->SetRxNoiseFigure(m_noise[node] - WToDbm(warm));
    }

    // How often a frame is sent at most: since ns-3.43 the MAC limits it, before its rate manager, by two numbers, of which
    // the first is for frames that need no RTS.
    static void LimitAttempts(const StringValue& attempts)
    {
        TypeId::AttributeInformation found;
        if (TypeId::LookupByName("ns3::WifiMac").LookupAttributeByName("FrameRetryLimit", &found))
        {
            Config::SetDefault("ns3::WifiMac::FrameRetryLimit", attempts);
            return;
        }
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", attempts);
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", attempts);
    }

    static WifiStandard Standard(const std::string& name)
    {
        return name == "a"   ? WIFI_STANDARD_80211a
               : name == "b" ? WIFI_STANDARD_80211b
               : name == "g" ? WIFI_STANDARD_80211g
                             : WIFI_STANDARD_80211n;
    }

    // The helper takes attributes as arguments, of which there may be up to eight.
    static void Manage(WifiHelper& wifi, const std::string& line)
    {
        std::istringstream words(line);
        std::string type, word;
        words >> type;
        std::vector<std::pair<std::string, std::string>> set;
        while (words >> word)
        {
            auto equals = word.find('=');
            set.emplace_back(word.substr(0, equals), word.substr(equals + 1));
        }
        for (const auto& [name, value] : set)
        {
            auto owner = name == "NonUnicastMode" ? std::string("ns3::WifiRemoteStationManager") : type;
            Config::SetDefault(owner + "::" + name, StringValue(value));
        }
        wifi.SetRemoteStationManager(type);
    }

    void WatchMac(uint32_t node, Counts& count)
    {
        auto mac = Device(node)->GetMac();
        mac->TraceConnectWithoutContext("MacTxDrop",
                                        Callback<void, Ptr<const Packet>>([&count](Ptr<const Packet> packet) {
                                            count.refused += IsOurs(packet);
                                        }));
        mac->TraceConnectWithoutContext("AckedMpdu",
                                        Callback<void, Ptr<const WifiMpdu>>([&count](Ptr<const WifiMpdu> mpdu) {
                                            count.acknowledged += IsOurs(mpdu->GetPacket());
                                        }));
        mac->TraceConnectWithoutContext(
            "DroppedMpdu",
            Callback<void, WifiMacDropReason, Ptr<const WifiMpdu>>(
                [&count](WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu) {
                    count.given_up += reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT && IsOurs(mpdu->GetPacket());
                }));
        auto queue = Contender(node)->GetWifiMacQueue();
        queue->TraceConnectWithoutContext("Enqueue",
                                          Callback<void, Ptr<const WifiMpdu>>([this](Ptr<const WifiMpdu>) {
                                              m_queued = true;
                                          }));
        queue->TraceConnectWithoutContext("Expired",
                                          Callback<void, Ptr<const WifiMpdu>>([&count](Ptr<const WifiMpdu> mpdu) {
                                              count.expired += IsOurs(mpdu->GetPacket());
                                          }));
    }

    void WatchPhy(uint32_t node, Counts& count)
    {
        auto phy = Phy(node);
        phy->TraceConnectWithoutContext(
            "PhyTxPsduBegin",
            Callback<void, WifiConstPsduMap, WifiTxVector, double>(
                [&count](WifiConstPsduMap psdus, WifiTxVector, double) {
                    for (const auto& mpdu : *PeekPointer(psdus.begin()->second))
                    {
                        (mpdu->GetHeader().IsRetry() ? count.retries : count.sent) += IsOurs(mpdu->GetPacket());
                    }
                }));
        phy->TraceConnectWithoutContext(
            "PhyRxBegin",
            Callback<void, Ptr<const Packet>, RxPowerWattPerChannelBand>(
                [this, node](Ptr<const Packet>, RxPowerWattPerChannelBand powers) {
                    m_strengths[node] = WToDbm(powers.begin()->second);
                }));
        phy->TraceConnectWithoutContext(
            "PhyRxDrop",
            Callback<void, Ptr<const Packet>, WifiPhyRxfailureReason>(
                [&count](Ptr<const Packet> packet, WifiPhyRxfailureReason reason) {
                    count.collisions += IsBusy(reason) && IsOurs(packet);
                }));
        phy->GetState()->TraceConnectWithoutContext(
            "RxError",
            Callback<void, Ptr<const Packet>, double>([this, node, &count](Ptr<const Packet> packet, double snr) {
                bool alone = snr > 0.999 * DbToRatio(m_strengths[node] - m_noise[node]);
                (alone ? count.noise_losses : count.collisions) += IsOurs(packet);
            }));
    }

    // The receiver had to do with another frame.
    static bool IsBusy(WifiPhyRxfailureReason reason)
    {
        return reason == RXING || reason == TXING || reason == BUSY_DECODING_PREAMBLE ||
               reason == RECEPTION_ABORTED_BY_TX || reason == PREAMBLE_DETECTION_PACKET_SWITCH;
    }

    // ns-3 tells nobody that a queue was full.
    bool DoSend(uint32_t sender, Ptr<NetDevice> device, Ptr<Packet> packet, const Address& to) override
    {
        auto refused = counts[sender].refused;
        m_queued = false;
        bool taken = Link::DoSend(sender, device, packet, to);
        counts[sender].queue_drops += !m_queued && counts[sender].refused == refused;
        return taken;
    }

    double Strength(uint32_t node, const FrameTag&) const override
    {
        return m_strengths[node];
    }

    void Turn(uint32_t node, bool on) override
    {
        on ? Phy(node)->ResumeFromOff() : Phy(node)->SetOffMode();
    }

    YansWifiPhyHelper m_phy;
    WifiHelper m_wifi;
    int m_base; // number of the base station; negative among equals
    bool m_queued = false;           // the frame that is being sent
    std::vector<double> m_strengths; // dBm, of what each node receives
    std::vector<double> m_noise;     // dBm, of each node
};
